import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { edited, shellCommandOf, stepsOf } from "../../src/programs/promptRules.ts"
import type { Step } from "../../src/programs/promptRules.ts"

const edit = (file: string, text: string, whole = false): Step => ({ _tag: "Edit", file, text, whole })
const run = (command: string): Step => ({ _tag: "Run", command })

const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>]> = [
  ["say hello to me", [{ _tag: "Say", text: "hello to me" }]],
  ["wait", [{ _tag: "Wait" }]],
  ["wait for it", [edit("NOTES.md", "- wait for it"), run("wc -l NOTES.md")]],
  ["crash", [{ _tag: "Crash" }]],
  ['Please add "one line" to src/a.txt.', [edit("src/a.txt", "one line")]],
  ['create hello.txt with "hi"', [edit("hello.txt", "hi", true)]],
  [
    'add "a" to x.md, add "b" to y.md and run: cat x.md y.md',
    [edit("x.md", "a"), edit("y.md", "b"), run("cat x.md y.md")]
  ],
  ["run: echo 'add \"x\" to y'", [run("echo 'add \"x\" to y'")]],
  ["First\nrun: ls\nsay done", [run("ls"), { _tag: "Say", text: "done" }]],
  ["\n  Fix the bug \nsoon", [edit("NOTES.md", "- Fix the bug"), run("wc -l NOTES.md")]],
  ["", [edit("NOTES.md", "- An empty prompt"), run("wc -l NOTES.md")]]
]

describe("the rules of a prompt", () => {
  for (const [prompt, steps] of cases)
    it(`read ${JSON.stringify(prompt)}`, () => {
      expect(stepsOf(prompt)).toEqual(steps)
    })

  it("add a line behind a complete last line", () => {
    expect(
      ["", "a\n", "a"].map((before) => edited(before, { _tag: "Edit", file: "f", text: "b", whole: false }))
    ).toEqual(["b\n", "a\nb\n", "a\nb\n"])
    expect(edited("a\n", { _tag: "Edit", file: "f", text: "b", whole: true })).toBe("b\n")
  })

  it("make a shell command that writes the text as it is", () => {
    const folder = mkdtempSync(join(tmpdir(), "greenroom-rules-"))
    const text = `it's $HOME \`ls\` "%s" \\n`
    const command = shellCommandOf({ _tag: "Edit", file: "it's.txt", text, whole: false })
    execFileSync("/bin/sh", ["-c", `${command}; ${command}`], { cwd: folder })
    expect(readFileSync(join(folder, "it's.txt"), "utf8")).toBe(`${text}\n${text}\n`)
    rmSync(folder, { recursive: true })
  })
})
