import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { UnavailabilityReason } from "../../../../src/schema/prp/contract/result.ts"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import { withoutAliases } from "../../../../src/schema/prp/rules/resultAliases.ts"
import { samples } from "../contract/samples.ts"
import { fixture } from "./fixtures.ts"

const check = (status: string, reasonCode?: string) => {
  const entry = { commandOrCheck: "c", status, ...(reasonCode === undefined ? {} : { reasonCode }) }
  return withoutAliases({ verification: [entry] })
}

describe("withoutAliases", () => {
  it("gives the words of the contract", () => {
    for (const [word, known] of [
      ["complete", "done"],
      ["completed", "done"],
      ["blocked", "blocked"]
    ]) {
      expect(withoutAliases({ reportedWorkDisposition: word })).toEqual({ reportedWorkDisposition: known })
    }
    for (const [word, known] of [
      ["pass", "passed"],
      ["success", "passed"],
      ["succeeded", "passed"],
      ["fail", "failed"],
      ["failed", "failed"],
      ["not_run", "not_run"]
    ] as const) {
      expect(check(word)).toEqual({ verification: [{ commandOrCheck: "c", status: known }] })
    }
    for (const [word, known] of [
      ["pass", "satisfied"],
      ["passed", "satisfied"],
      ["complete", "satisfied"],
      ["completed", "satisfied"],
      ["fail", "not_satisfied"],
      ["failed", "not_satisfied"],
      ["incomplete", "not_satisfied"],
      ["unknown", "unknown"]
    ]) {
      const claim = (status: unknown) => ({ completionClaim: { criteria: [{ criterionId: "c", status }] } })
      expect(withoutAliases(claim(word))).toEqual(claim(known))
    }
  })

  it("does not call failed what could not run", () => {
    for (const reason of UnavailabilityReason.literals.filter((one) => one !== "other")) {
      for (const word of ["fail", "failed"])
        expect(check(word, reason)).toMatchObject({ verification: [{ status: "not_run" }] })
      expect(check("success", reason)).toMatchObject({ verification: [{ status: "passed" }] })
    }
    for (const reason of ["assertion", "other"]) {
      expect(check("failed", reason)).toMatchObject({ verification: [{ status: "failed" }] })
    }
  })

  it("leaves everything else as it is, in its order", () => {
    for (const value of [
      null,
      1,
      "completed",
      [],
      { verification: 1, completionClaim: [] },
      samples["paperclip.run_result.v1"]
    ]) {
      expect(JSON.stringify(withoutAliases(value))).toBe(JSON.stringify(value))
    }
    expect(withoutAliases({ summary: "completed", evidence: [{ status: "pass" }] })).toEqual({
      summary: "completed",
      evidence: [{ status: "pass" }]
    })
  })

  it("makes a result valid that only its words kept from it", () => {
    const { result } = fixture("whole-run")
    const said = {
      ...result,
      reportedWorkDisposition: "completed",
      verification: [{ commandOrCheck: "c", status: "success" }]
    }
    expect(Result.isFailure(decodePrp("paperclip.run_result.v1", said))).toBe(true)
    expect(Result.isSuccess(decodePrp("paperclip.run_result.v1", withoutAliases(said)))).toBe(true)
  })
})
