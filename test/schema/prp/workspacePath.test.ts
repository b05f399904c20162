import { describe, expect, it } from "@effect/vitest"
import { workspacePath } from "../../../src/schema/prp/workspacePath.ts"

describe("workspacePath", () => {
  const cases: ReadonlyArray<readonly [string, string, string | undefined]> = [
    ["/w/a.txt", "/w", "a.txt"],
    ["/w/a.txt", "/w/", "a.txt"],
    ["/w//b/./a.txt", "/w", "b/a.txt"],
    ["/w", "/w", "."],
    ["/a", "/", "a"],
    ["a/b", "/w", "a/b"],
    ["./a", "/w", "a"],
    ["/w/..a/b..", "/w", "..a/b.."],
    ["/w/漢 字", "/w", "漢 字"],
    ["/wx/a", "/w", undefined],
    ["/etc/passwd", "/w", undefined],
    ["/w/../etc", "/w", undefined],
    ["/w/a/..", "/w", undefined],
    ["..", "/w", undefined],
    ["a/../../b", "/w", undefined],
    ["/w/a\n/../b", "/w", undefined],
    ["/w/a\u2028b", "/w", undefined],
    ["/w/a\0b", "/w", undefined],
    ["/w/a\ud800", "/w", undefined],
    ["/w/..\\..\\x", "/w", undefined],
    ["\\\\server\\share", "/w", undefined],
    ["C:/x", "/w", undefined],
    ["file:///w/a", "/w", undefined],
    ["", "/w", undefined]
  ]
  for (const [path, workspace, expected] of cases) {
    it(`of ${JSON.stringify(path)} in ${workspace} is ${expected}`, () => {
      expect(workspacePath(path, workspace, 100)).toBe(expected)
    })
  }

  it("has a bound that does not count the workspace", () => {
    expect(workspacePath(`/w/${"😀".repeat(10)}`, "/w", 10)).toBe("😀".repeat(10))
    expect(workspacePath(`/w/${"😀".repeat(11)}`, "/w", 10)).toBeUndefined()
  })
})
