import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { harnessBounds } from "../../fixtures/agents/harness/bounds.ts"
import { readHarnessScript } from "../../fixtures/agents/harness/script.ts"
import { makeBoundedLines } from "./boundedLines.ts"

const folder = join(import.meta.dirname, "../../fixtures/agents/harness/scripts")

const isScript = (more: object): boolean =>
  Result.isSuccess(
    readHarnessScript(
      JSON.stringify({
        schema: "paperclip.fake_harness.script.v1",
        name: "n",
        steps: [{ kind: "exit", code: 0 }],
        ...more
      })
    )
  )

describe("a script of a fake harness", () => {
  it("is read from each of our files, which together have every kind of step", () => {
    const kinds = readdirSync(folder).flatMap((name) => {
      const script = Result.getOrThrow(readHarnessScript(readFileSync(join(folder, name), "utf8")))
      expect(`${script.name}.json`).toBe(name)
      return script.steps.map(({ kind }) => kind)
    })
    expect([...new Set(kinds)].sort()).toEqual([
      "await_interrupt",
      "await_resolution",
      "delay",
      "event",
      "exit",
      "log",
      "request",
      "result",
      "spawn_worker",
      "terminal"
    ])
  })

  it("has its bounds", () => {
    const { scriptBytesMax, scriptNameCharactersMax, scriptStepsMax } = harnessBounds
    const steps = (count: number) => Array.from({ length: count }, () => ({ kind: "await_interrupt" }))
    expect([isScript({ steps: steps(scriptStepsMax) }), isScript({ steps: steps(scriptStepsMax + 1) })]).toEqual([
      true,
      false
    ])
    expect([isScript({ steps: [] }), isScript({ name: "" })]).toEqual([false, false])
    const named = (characters: number) => isScript({ name: "n".repeat(characters) })
    expect([named(scriptNameCharactersMax), named(scriptNameCharactersMax + 1)]).toEqual([true, false])
    const sized = (bytes: number) => {
      const log = (text: string) => ({ steps: [{ kind: "log", stream: "stdout", text }] })
      const empty = JSON.stringify({ schema: "paperclip.fake_harness.script.v1", name: "n", ...log("") }).length
      return isScript(log("x".repeat(bytes - empty)))
    }
    expect([sized(scriptBytesMax), sized(scriptBytesMax + 1)]).toEqual([true, false])
  })

  it.each<[string, object]>([
    ["another schema", { schema: "paperclip.fake_harness.script.v2" }],
    ["a kind of step that there is not", { steps: [{ kind: "sleep", milliseconds: 1 }] }],
    ["a field that there is not", { steps: [{ kind: "delay", milliseconds: 1, ms: 1 }] }],
    ["an exit code that no process has", { steps: [{ kind: "exit", code: 256 }] }],
    ["another stream", { steps: [{ kind: "log", stream: "stdlog", text: "" }] }]
  ])("is refused with %s", (_, more) => {
    expect(isScript(more)).toBe(false)
  })

  it("is refused when it is no JSON", () => {
    expect(Result.isFailure(readHarnessScript("{"))).toBe(true)
  })
})

describe("bounded lines", () => {
  const push = (lines: ReturnType<typeof makeBoundedLines>, text: string) => lines.push(new TextEncoder().encode(text))

  it("are as long as the bound and no longer, however they are cut", () => {
    expect(push(makeBoundedLines(4), "abcd\nabcde\nab\n")).toEqual(["abcd", undefined, "ab"])
    const lines = makeBoundedLines(4)
    expect(["ab", "cd", "\n", "abc", "de", "fgh\nx", "\n"].map((text) => push(lines, text))).toEqual([
      [],
      [],
      ["abcd"],
      [],
      [undefined],
      [],
      ["x"]
    ])
  })
})
