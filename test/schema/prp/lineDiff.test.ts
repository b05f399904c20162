import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { lineDiff } from "../../../src/schema/prp/lineDiff.ts"

const text = Arbitrary.map(
  Arbitrary.schema(Schema.Array(Schema.Literals(["a\n", "b\n", "c", "\n", "\r\n", "-\n", "\\ \n"]))),
  (parts) => parts.join("")
)

/** Applies a diff with one hunk, as a reader of the format would. */
const apply = (before: string, diff: string): string => {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const [, , range = "", ...body] = diff.match(/[^\n]*\n/g) ?? []
  const [, first = "0", length = "0"] = /^@@ -(\d+),(\d+) /.exec(range) ?? []
  const start = Number(length) === 0 ? Number(first) : Number(first) - 1
  const now: Array<string> = []
  for (const line of body) {
    if (line.startsWith("\\")) now.push((now.pop() ?? "").slice(0, -1))
    else now.push(line)
  }
  const kept = now.filter((line) => !line.startsWith("-")).map((line) => line.slice(1))
  return [...old.slice(0, start), ...kept, ...old.slice(start + Number(length))].join("")
}

describe("lineDiff", () => {
  it("shows three lines around what differs", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    expect(lineDiff("f", before, before.replace("5\n", "five\n")).text).toBe(
      "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )
  })

  it("says when there is no line feed at the end", () => {
    expect(lineDiff("f", "a", "a\n")).toStrictEqual({
      additions: 1,
      deletions: 1,
      text: "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"
    })
  })

  it("is empty when nothing differs", () => {
    expect(lineDiff("f", "a\n", "a\n")).toStrictEqual({ additions: 0, deletions: 0, text: "" })
    expect(lineDiff("f", null, "")).toStrictEqual({ additions: 0, deletions: 0, text: "" })
  })

  it.prop("turns the old text into the new one and counts its own lines", [text, text], ([before, after]) => {
    const diff = lineDiff("f", before, after)
    expect(diff.text === "" ? before : apply(before, diff.text)).toBe(after)
    const body = diff.text.split("\n").slice(3)
    expect(body.filter((line) => line.startsWith("+"))).toHaveLength(diff.additions)
    expect(body.filter((line) => line.startsWith("-"))).toHaveLength(diff.deletions)
  })
})
