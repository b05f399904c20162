import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { prpEntries, prpText } from "../../src/cli/prpInput.ts"
import { reducedFrom } from "../../src/cli/prpReduce.ts"
import { refusalLines, refusalOf, toldOf } from "../../src/cli/prpRefusals.ts"
import { PrpRejected } from "../../src/schema/errors.ts"
import { limits } from "../../src/schema/limits.ts"
import { fixture, fixtureText, goldenFile } from "../schema/prp/rules/fixtures.ts"
import { goldenText } from "../../src/schema/prp/rules/sessionSnapshot.ts"

const linesOf = (text: string) => prpEntries(text).map(({ line, parsed }) => [line, Result.isSuccess(parsed)])

describe("what a file of the contract holds", () => {
  it("is one document, on however many lines", () => {
    expect(linesOf('{"a":1}')).toEqual([[undefined, true]])
    expect(linesOf('{\n  "a": 1\n}\n')).toEqual([[undefined, true]])
    expect(linesOf("[\n{},\n{}\n]")).toEqual([[undefined, true]])
  })

  it("is one value on each line, told by its number; empty lines are none", () => {
    expect(linesOf('{"a":1}\n\r\n{"b":2}\r\n')).toEqual([
      [1, true],
      [3, true]
    ])
  })

  it("is still lines when some of them are broken", () => {
    expect(linesOf('{"a":1}\nnoise')).toEqual([
      [1, true],
      [2, false]
    ])
    expect(linesOf('{"a":\n{"b":2}')).toEqual([
      [1, false],
      [2, true]
    ])
  })

  it("is one broken document when nothing looks like lines", () => {
    expect(linesOf('{\n  "a": 1,\n')).toEqual([[undefined, false]])
    expect(linesOf("")).toEqual([[undefined, false]])
    expect(linesOf("\n\n")).toEqual([[undefined, false]])
  })
})

describe("the text of a file", () => {
  const withFile = (size: number, first = "") =>
    Effect.acquireUseRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "greenroom-prp-"))),
      (folder) => {
        const file = join(folder, "file")
        writeFileSync(file, first, "latin1")
        truncateSync(file, size)
        return Effect.result(prpText(file))
      },
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )

  it.live("is read up to prpInputBytesMax, and refused one byte beyond", () =>
    Effect.gen(function* () {
      const whole = yield* withFile(limits.prpInputBytesMax)
      expect(Result.isSuccess(whole) && whole.success.length).toBe(limits.prpInputBytesMax)
      const larger = yield* withFile(limits.prpInputBytesMax + 1)
      expect(Result.isFailure(larger) && larger.failure.reason).toBe(`more than ${limits.prpInputBytesMax} bytes`)
    })
  )

  it.live("is UTF-8", () =>
    Effect.gen(function* () {
      const text = yield* withFile(1, "\u00ff")
      expect(Result.isFailure(text) && text.failure.reason).toBe("no text in UTF-8")
    })
  )
})

describe("a run reduced", () => {
  const reduced = (text: string) => reducedFrom("name", prpEntries(text))

  it("from a fixture is its golden files", () => {
    const { snapshot, summary } = Result.getOrThrow(reduced(fixtureText("whole-run")))
    expect(goldenText(snapshot)).toBe(goldenFile("whole-run", "snapshot"))
    expect(goldenText(summary)).toBe(goldenFile("whole-run", "summary"))
  })

  it("from its events alone is the same, but for what events do not say", () => {
    const text = fixture("whole-run")
      .events.map((event) => JSON.stringify(event))
      .join("\n")
    const { snapshot, summary } = Result.getOrThrow(reduced(text))
    const golden: object = JSON.parse(goldenFile("whole-run", "snapshot"))
    expect(snapshot).toEqual({ ...golden, fixtureName: "name", identity: null, capabilities: null })
    expect(goldenText(summary)).toBe(goldenFile("whole-run", "summary"))
  })

  it("is not there when one event is refused, or is of another run", () => {
    const [first, second] = fixture("whole-run").events
    const text = [first, { ...second, runId: "other" }, { ...second, eventType: "no.such" }].map((event) =>
      JSON.stringify(event)
    )
    const refused = reduced(text.join("\n"))
    expect(Result.isFailure(refused) && refused.failure.map(({ line, code }) => [line, code])).toEqual([
      [2, "binding_mismatch"],
      [3, "schema_validation"]
    ])
  })

  it("is not there for a fixture that does not fit together", () => {
    const whole = fixture("whole-run")
    const refused = reduced(JSON.stringify({ ...whole, identity: { ...whole.identity, runId: "other" } }))
    expect(Result.isFailure(refused) && refused.failure[0]).toMatchObject({ line: null, code: "binding_mismatch" })
  })
})

describe("refused values", () => {
  const rejected = new PrpRejected({
    code: "invalid_json",
    kind: "line",
    issues: [{ path: "", expectation: "Expected JSON" }]
  })
  const refusals = (count: number) => Array.from({ length: count }, (_, index) => refusalOf(index + 1, rejected))

  it("are told up to prpRefusalsToldMax, and counted beyond", () => {
    const most = refusals(limits.prpRefusalsToldMax)
    expect(refusalLines("f", most)).toHaveLength(2 * limits.prpRefusalsToldMax)
    const more = refusals(limits.prpRefusalsToldMax + 1)
    expect(refusalLines("f", more).at(-1)).toBe("and 1 more refused values")
    expect(toldOf(more)).toEqual(most)
  })

  it("are told by file, line, code, kind, place and expectation", () => {
    expect(refusalLines("-", refusals(1))).toEqual(["stdin:1: invalid_json (line)", "  the value: Expected JSON"])
  })
})
