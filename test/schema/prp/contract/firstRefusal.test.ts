import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { limits } from "../../../../src/schema/limits.ts"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import { firstRefusal } from "../../../../src/schema/prp/contract/firstRefusal.ts"
import { issuesOf } from "../../../../src/schema/prp/contract/issues.ts"
import { type PrpSchemaId, prpSchemas } from "../../../../src/schema/prp/contract/kinds.ts"
import { contractNames } from "../../../../src/schema/prp/contract/names.ts"
import { mutate } from "../../../conformance/mutations.ts"
import { randomOf } from "../../../conformance/random.ts"
import { samples, typedKinds } from "./samples.ts"

const kinds = Object.keys(samples).filter((kind): kind is PrpSchemaId => Object.hasOwn(prpSchemas, kind))

const vocabulary = {
  names: ["schema", "status", "kind", "payload", "summary", "later"],
  members: ["running", "completed", "user", null, true, 1],
  lengths: [0, 1, 160, 240],
  counts: [0, 1, 2, 64],
  numbers: [0, 1, 2, 4000]
}

describe("the first refusal", () => {
  for (const kind of kinds) {
    it(`is one that the schema of ${kind} has, too, where it has one`, () => {
      const schema: Schema.ConstraintDecoder<unknown> = prpSchemas[kind]
      const decode = Schema.decodeUnknownResult(schema)
      const random = randomOf(11)
      for (let run = 0; run < 120; run++) {
        let value: unknown = samples[kind]
        for (let changes = random.integer(3); changes > 0; changes--) value = mutate(value, vocabulary, random)
        const decoded = decode(value, { onExcessProperty: "error", errors: "all" })
        const first = firstRefusal(schema.ast, value)
        expect(first === undefined).toBe(Result.isSuccess(decoded))
        if (first === undefined || Result.isSuccess(decoded)) continue
        const all = issuesOf(decoded.failure.issue, value, contractNames())
        // A list of issues is bounded, and what a bounded list leaves out may come first here.
        if (all.length < limits.prpIssuesMax) expect(all).toContainEqual(issuesOf(first, value, contractNames())[0])
      }
    })
  }

  it("is told of a large value as of a small one", () => {
    const filler = Object.fromEntries(
      Array.from({ length: limits.prpExplainedValuesMax }, (_, index) => [`x${index}`, index])
    )
    const event = samples["paperclip.prp.event.v1"]
    const first = (value: object) => {
      const decoded = decodePrp("event", value)
      return Result.isFailure(decoded) ? decoded.failure.issues : undefined
    }
    const { runId: _runId, ...withoutRun } = event
    expect(first({ ...event, debug: filler })).toBeUndefined()
    expect(first({ ...withoutRun, debug: filler })).toEqual([{ path: "/runId", expectation: "Expected this property" }])
    expect(first({ ...event, debug: filler, sourceSeq: 0 })).toEqual([
      { path: "/sourceSeq", expectation: "Expected a value greater than or equal to 1" }
    ])
    for (const [eventType, kind] of typedKinds.filter(([, kind]) => kind === "paperclip.hook.v1")) {
      const payload = { ...samples[kind], ...filler }
      const at = Object.keys(samples[kind]).length + 1
      expect(first({ ...event, eventType, payload })).toEqual([
        { path: `/payload/(property ${at})`, expectation: "Expected no such property" }
      ])
    }
  })
})
