import { describe, expect, it } from "vitest"
import { plain } from "../../src/cli/paint.ts"
import { cardLines, choiceOf, type Question, questionLines, questionOf } from "../../src/cli/permissionCard.ts"
import { limits } from "../../src/schema/limits.ts"
import type { RuntimeRequest } from "../../src/schema/prp/runtimeRequest.ts"

const choices = [
  { key: "a1", label: "Allow", kind: "allow_once" },
  { key: "a2", label: "Always", kind: "allow_always" },
  { key: "r1", label: "Reject", kind: "reject_once" }
]

const question = (fields: Record<string, unknown> = {}, native?: unknown): Question => {
  const request: RuntimeRequest = {
    schema: "paperclip.runtime_request.v1",
    requestKind: "runtime",
    requestId: "request_1",
    type: "permission",
    status: "pending",
    prompt: "Edit notes.txt",
    choices,
    toolKind: "edit",
    target: { _tag: "Inside", path: "notes.txt" },
    content: [{ _tag: "Diff", path: "notes.txt", oldText: "one\n", newText: "one\ntwo\n", truncated: false }],
    ...fields
  }
  return questionOf(request, native)
}

const size = (columns: number, rows: number) => ({ columns: () => columns, rows: () => rows })

describe("the card of a question", () => {
  it("shows title, kind, target, diff and a key for each answer", () => {
    expect(cardLines(question(), 0, size(80, 40), plain)).toEqual([
      "┌ The agent asks for permission",
      "│ Edit notes.txt",
      "│ edit · notes.txt",
      "│ @@ -1,1 +1,2 @@",
      "│  one",
      "│ +two",
      "│ [1] Allow   [2] Always   [3] Reject",
      "└ Press a key; Ctrl-C cancels the turn."
    ])
  })

  it("shows the command that the title does not", () => {
    const native = { toolCall: { rawInput: { command: "rm -rf\u001b[2J build" } } }
    const shown = questionLines(question({ prompt: "Clean up", content: [] }, native), 80, plain)
    expect(shown).toContain("$ rm -rf\ufffd[2J build")
    const listed = { toolCall: { rawInput: { command: ["git", "push", "--force"] } } }
    expect(questionLines(question({ content: [] }, listed), 80, plain)).toContain("$ git push --force")
    const same = { toolCall: { rawInput: { command: "Edit notes.txt" } } }
    expect(questionLines(question({ content: [] }, same), 80, plain)).toHaveLength(2)
  })

  it("says when no single target can be told, what is cut, and what it does not show", () => {
    const content = [
      { _tag: "Text", text: "a\nb", truncated: true },
      { _tag: "Other", type: "audio" }
    ]
    const target = { _tag: "None", reason: "several" }
    expect(questionLines(question({ target, content }), 80, plain).slice(1)).toEqual([
      "edit · no single target can be told",
      "a",
      "b",
      "… and more, cut",
      "(audio)"
    ])
  })

  it("wraps a long line and never cuts it", () => {
    const command = "#".repeat(300)
    const lines = cardLines(question({ prompt: command, content: [] }), 0, size(50, 40), plain)
    expect(lines.every((line) => line.length <= 50)).toBe(true)
    expect(lines.join("").replace(/[^#]/g, "")).toHaveLength(300)
  })

  it("is bounded, counts what it leaves out and offers to show it", () => {
    const linesOf = (count: number) => {
      const text = Array.from({ length: count - 2 }, (_, index) => `line ${index}`).join("\n")
      return cardLines(question({ content: [{ _tag: "Text", text, truncated: false }] }), 0, size(80, 200), plain)
    }
    const max = limits.shownQuestionLinesMax
    expect(linesOf(max)).toHaveLength(max + 3)
    expect(linesOf(max).join("\n")).not.toContain("more lines")
    expect(linesOf(max + 1)).toHaveLength(max + 3)
    expect(linesOf(max + 1).join("\n")).toContain("… 2 more lines")
    expect(linesOf(max + 1).join("\n")).toContain("[v] Show all lines")
  })

  it("fits a small terminal", () => {
    const text = "line\n".repeat(100)
    const small = cardLines(question({ content: [{ _tag: "Text", text, truncated: false }] }), 3, size(80, 20), plain)
    expect(small.length).toBeLessThan(20)
    expect(small.at(-1)).toContain("3 more waiting.")
  })
})

describe("a key", () => {
  it("stands for the answer beside it, whatever its kind", () => {
    expect(["1", "2", "3\r", " 1 "].map((key) => choiceOf(question(), key)?.optionId)).toEqual(["a1", "a2", "r1", "a1"])
  })

  it("y and n stand for the one plain yes and the one plain no", () => {
    expect(["y", "N"].map((key) => choiceOf(question(), key)?.optionId)).toEqual(["a1", "r1"])
    const two = question({ choices: [...choices, { key: "a3", label: "Allow", kind: "allow_once" }] })
    expect(choiceOf(two, "y")).toBeUndefined()
    const none = question({ choices: choices.slice(1, 2) })
    expect(["y", "n"].map((key) => choiceOf(none, key))).toEqual([undefined, undefined])
  })

  it("that stands for nothing, and several keys together, answer nothing", () => {
    for (const keys of ["4", "0", "", "\r", "11", "1\n1", "\u001b[A", "v"])
      expect(choiceOf(question(), keys)).toBeUndefined()
  })

  it("is there for every answer that a request may offer, each another one", () => {
    const many = Array.from({ length: limits.requestOptionsMax }, (_, index) => ({ key: `o${index}`, label: "x" }))
    const keys = question({ choices: many }).choices.map(({ key }) => key)
    expect(new Set(keys).size).toBe(limits.requestOptionsMax)
    expect(keys.filter((key) => ["y", "n", "v"].includes(key))).toEqual([])
  })
})
