import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { PrpRejected } from "../../../../src/schema/errors.ts"
import { limits } from "../../../../src/schema/limits.ts"
import { decodePrp, decodePrpText } from "../../../../src/schema/prp/contract/decode.ts"
import { type PrpSchemaId, prpSchemas } from "../../../../src/schema/prp/contract/kinds.ts"
import { isPlainObject, pathsIn, valueAt, withAt } from "./places.ts"
import { samples, typedKinds } from "./samples.ts"

const kinds = Object.keys(samples).filter((kind): kind is PrpSchemaId => Object.hasOwn(prpSchemas, kind))

const secret = "sk_live_4242"

const failureOf = (decoded: Result.Result<unknown, PrpRejected>): PrpRejected | undefined =>
  Result.isFailure(decoded) ? decoded.failure : undefined

const everythingOf = (rejected: PrpRejected | undefined) =>
  rejected === undefined ? "" : `${JSON.stringify(rejected)} ${rejected.message} ${rejected.stack} ${String(rejected)}`

describe("PrpRejected", () => {
  for (const kind of kinds) {
    it(`says nothing of a secret, wherever it stands in a ${kind}`, () => {
      for (const path of pathsIn(samples[kind])) {
        const found = valueAt(samples[kind], path)
        const changes = [secret, [secret], { [secret]: secret }, secret.repeat(100_000 / secret.length + 1)]
        if (isPlainObject(found)) changes.push({ ...Object(found), [secret]: secret })
        for (const change of changes) {
          const rejected = failureOf(decodePrp(kind, withAt(samples[kind], path, change)))
          expect(everythingOf(rejected)).not.toContain(secret)
        }
      }
    })
  }

  it("says nothing of a secret in a typed payload", () => {
    for (const [eventType, kind] of typedKinds) {
      for (const path of pathsIn(samples[kind])) {
        const payload = withAt(samples[kind], path, { [secret]: [secret] })
        const event = { ...samples["paperclip.prp.event.v1"], eventType, payload }
        expect(everythingOf(failureOf(decodePrp("event", event)))).not.toContain(secret)
      }
    }
  })

  it("says nothing of a secret in a text that is no JSON", () => {
    for (const text of [secret, `{"a":"${secret}"`, `{"a":${secret}}`, `"${secret}`]) {
      const rejected = failureOf(decodePrpText("event", text))
      expect(rejected?.code).toBe("invalid_json")
      expect(everythingOf(rejected)).not.toContain(secret)
    }
  })

  it("names the kind, every place and what is expected there", () => {
    const broken = {
      ...samples["paperclip.prp.stop_reason.v1"],
      code: "",
      aggregate: { unit: "pounds", observed: -1, limit: 0 },
      relatedReceiptIds: ["a", "a"]
    }
    const rejected = failureOf(decodePrp("paperclip.prp.stop_reason.v1", broken))
    expect(rejected?.kind).toBe("paperclip.prp.stop_reason.v1")
    expect(rejected?.issues).toEqual([
      { path: "/code", expectation: "Expected a stable code" },
      { path: "/aggregate/unit", expectation: 'Expected "cents" | "usd_micros" | "tokens"' },
      { path: "/aggregate/observed", expectation: "Expected a value greater than or equal to 0" },
      { path: "/aggregate/window", expectation: "Expected this property" },
      { path: "/relatedReceiptIds", expectation: "Expected a list without repetition" }
    ])
  })

  it("counts a name that is not of the contract by its position", () => {
    const usage = { ...samples.usage, [secret]: 1, channel: 2 }
    expect(failureOf(decodePrp("usage", usage))?.issues).toEqual([
      { path: `/(property ${Object.keys(samples.usage).length + 1})`, expectation: "Expected no such property" },
      { path: "/channel", expectation: "Expected no such property" }
    ])
  })

  it("names no more places than its bound, and the first one alone of a very large value", () => {
    const steps = (count: number) => ({
      ...samples["paperclip.plan.updated.v1"],
      steps: Array.from({ length: count }, () => 1)
    })
    const issues = (count: number) => failureOf(decodePrp("paperclip.plan.updated.v1", steps(count)))?.issues.length
    expect(issues(limits.prpIssuesMax)).toBe(limits.prpIssuesMax)
    expect(issues(limits.prpIssuesMax + 1)).toBe(limits.prpIssuesMax)
    const around = Object.keys(samples["paperclip.plan.updated.v1"]).length + 1
    expect(issues(limits.prpExplainedValuesMax - around)).toBe(limits.prpIssuesMax)
    expect(issues(limits.prpExplainedValuesMax - around + 1)).toBe(1)
  })

  it("bounds what it says of a place", () => {
    for (const kind of kinds) {
      for (const path of pathsIn(samples[kind])) {
        for (const change of [[], {}, "", -1]) {
          const rejected = failureOf(decodePrp(kind, withAt(samples[kind], path, change)))
          for (const issue of rejected?.issues ?? []) {
            expect(issue.path.length).toBeLessThanOrEqual(limits.prpPathCharactersMax)
            expect(issue.expectation.length).toBeLessThanOrEqual(limits.prpExpectationCharactersMax)
            expect(issue.expectation).toMatch(/^Expected /)
          }
        }
      }
    }
  })

  it("is the answer to what is no object at all", () => {
    for (const value of [undefined, null, 1, "x", true, [], [samples["paperclip.prp.event.v1"]]]) {
      expect(failureOf(decodePrp("event", value))?.issues).toEqual([{ path: "", expectation: "Expected an object" }])
    }
  })
})

describe("decodePrpText", () => {
  it("refuses a text that nests too deeply to be written again, and reads one that just does not", () => {
    const nested = (levels: number) =>
      JSON.stringify({ ...samples["paperclip.prp.event.v1"], debug: {} }).replace(
        '"debug":{}',
        `"debug":{"native":${"[".repeat(levels)}${"]".repeat(levels)}}`
      )
    expect(Result.isSuccess(decodePrpText("event", nested(limits.frameDepthMax - 2)))).toBe(true)
    expect(failureOf(decodePrpText("event", nested(limits.frameDepthMax - 1)))).toMatchObject({
      code: "invalid_json",
      issues: [{ path: "", expectation: "Expected JSON within the bound of its nesting" }]
    })
    expect(failureOf(decodePrpText("event", "[".repeat(1_000_000)))?.code).toBe("invalid_json")
  })
})

describe("a list that must not repeat", () => {
  const reference = { kind: "wake", id: "w" }
  const judged = (causalRefs: ReadonlyArray<unknown>) =>
    failureOf(
      decodePrp("paperclip.prp.semantic_tool.v1", { ...samples["paperclip.prp.semantic_tool.v1"], causalRefs })
    )?.issues.map(({ path }) => path)

  it("repeats when two items are the same JSON, whatever the order of their properties", () => {
    expect(
      judged([
        { ...reference, a: { b: 1, c: -0 } },
        { a: { c: 0, b: 1 }, id: "w", kind: "wake" }
      ])
    ).toEqual(["/causalRefs"])
    expect(
      judged([
        { ...reference, a: [1, 2] },
        { ...reference, a: [2, 1] }
      ])
    ).toBeUndefined()
    expect(
      judged([
        { ...reference, a: "1" },
        { ...reference, a: 1 }
      ])
    ).toBeUndefined()
    expect(
      judged([
        { ...reference, a: "\ud83d" },
        { ...reference, a: "\ufffd" }
      ])
    ).toBeUndefined()
  })

  it("is compared however deeply it is nested", () => {
    const deep = (innermost: unknown) => {
      let value = innermost
      for (let level = 0; level < 100_000; level++) value = [value]
      return { ...reference, deep: value }
    }
    expect(judged([deep(1), deep(2)])).toBeUndefined()
    expect(judged([deep(1), deep(1)])).toEqual(["/causalRefs"])
  })

  it("is refused when an item is no JSON", () => {
    expect(judged([{ ...reference, later: undefined }])).toEqual(["/causalRefs"])
  })
})
