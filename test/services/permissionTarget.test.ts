import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { limits } from "../../src/schema/limits.ts"
import type { RequestKind, RequestTarget } from "../../src/schema/request.ts"
import { isWithin, permissionTarget, placeInWorkspace, type TargetSource } from "../../src/services/permissionTarget.ts"

const roots = ["/ws", "/real/ws"]

const target = (source: Partial<TargetSource>): RequestTarget =>
  permissionTarget({ kind: "read", locations: [], rawInput: undefined, content: [], ...source }, roots)

const told = (found: RequestTarget): string => (found._tag === "Inside" ? found.path : `none: ${found.reason}`)

const outside = "none: the path is outside of the workspace"
const parent = "none: the path steps to a parent"
const unsafe = "none: the path holds control or format characters"
const strange = "none: the path is of another kind than a plain one"
const padded = "none: the path is empty or padded"

const places: ReadonlyArray<readonly [string, string]> = [
  ["/ws/a.txt", "a.txt"],
  ["/real/ws/a.txt", "a.txt"],
  ["a.txt", "a.txt"],
  ["./a.txt", "a.txt"],
  ["//ws/a.txt", outside],
  ["/ws//b///c.txt", "b/c.txt"],
  ["/ws/./b/./c.txt", "b/c.txt"],
  ["/ws", "."],
  ["/ws/", "."],
  [".", "."],
  ["b/", "b"],
  ["...", "..."],
  ["..a", "..a"],
  ["/ws/.../a", ".../a"],
  ["a b.txt", "a b.txt"],
  ["/etc/passwd", outside],
  ["/", outside],
  ["/wsx/a.txt", outside],
  ["/ws2", outside],
  ["/WS/a.txt", outside],
  ["..", parent],
  ["../a.txt", parent],
  ["/ws/../etc/passwd", parent],
  ["/ws/b/../a.txt", parent],
  ["link/../a.txt", parent],
  ["/ws/..", parent],
  ["", padded],
  [" a.txt", padded],
  ["a.txt ", padded],
  ["~/a.txt", strange],
  ["~root", strange],
  ["file:///ws/a.txt", strange],
  ["C:\\ws\\a.txt", strange],
  ["C:/ws/a.txt", strange],
  ["\\\\host\\share", strange],
  ["b\\..\\..\\a.txt", strange],
  ["a.txt:stream", strange],
  ["a\u0000.txt", unsafe],
  ["a\u202etxt.exe", unsafe],
  ["a\n/ws/b.txt", unsafe],
  ["a\u200d.txt", unsafe],
  ["a\u2028.txt", unsafe],
  ["\ud800", unsafe],
  ["/ws/%2e%2e/a.txt", "%2e%2e/a.txt"]
]

const many = "none: more than one place is named"
const other = "none: the raw input may name another place"
const command = "none: the raw input holds a command"
const large = "none: the raw input is too large to tell"

const sources: ReadonlyArray<readonly [string, Partial<TargetSource>, string]> = [
  ["no place", {}, "none: no place is named"],
  ["one location", { locations: [{ path: "/ws/a" }] }, "a"],
  ["one location with a line", { locations: [{ path: "/ws/a", line: 3 }] }, "a"],
  [
    "two locations that are one place",
    { locations: [{ path: "/ws/a" }, { path: "a" }, { path: "/real/ws/./a" }] },
    "a"
  ],
  ["two places", { locations: [{ path: "/ws/a" }, { path: "/ws/b" }] }, many],
  ["a location without a path", { locations: [{ path: "/ws/a" }, { line: 1 }] }, "none: a location has no path"],
  ["a location that is no object", { locations: [null] }, "none: a location has no path"],
  [
    "a location whose path is inherited",
    { locations: [Object.create({ path: "/ws/a" })] },
    "none: a location has no path"
  ],
  ["raw input alone", { rawInput: { file_path: "/ws/a", offset: 1, limit: null } }, "a"],
  ["raw input that agrees", { locations: [{ path: "/ws/a" }], rawInput: { filePath: "a" } }, "a"],
  ["raw input that disagrees", { locations: [{ path: "/ws/a" }], rawInput: { path: "/ws/b" } }, many],
  ["raw input that is outside", { locations: [{ path: "/ws/a" }], rawInput: { path: "/etc/passwd" } }, outside],
  ["raw input with a list of paths", { rawInput: { paths: ["a", "./a"] } }, "a"],
  ["raw input with a list of two paths", { rawInput: { paths: ["a", "b"] } }, many],
  ["raw input with a nested path", { rawInput: { options: { target_file: "../a" } } }, parent],
  ["raw input with a directory of its own", { rawInput: { path: "a", cwd: "/tmp" } }, outside],
  ["raw input with a URL", { rawInput: { url: "https://example.test/a" } }, strange],
  ["a read that is a command", { rawInput: { path: "a", command: ["bash", "-lc", "cat a"] } }, command],
  ["a search that is a command", { kind: "search", rawInput: { path: ".", cmd: "rg x" } }, command],
  ["a search for words", { kind: "search", rawInput: { path: "/ws", pattern: "and/or ... x.y", "-n": true } }, "."],
  ["a search by an absolute glob", { kind: "search", rawInput: { path: ".", pattern: "/etc/**" } }, other],
  ["a search by a glob to the parent", { kind: "search", rawInput: { path: ".", pattern: "../**" } }, other],
  ["a search by a glob with braces", { kind: "search", rawInput: { path: ".", glob: "{a,../..}/*" } }, other],
  ["a search by a glob with an absolute brace", { kind: "search", rawInput: { path: ".", glob: "{/etc,a}/*" } }, other],
  ["a search by a glob at home", { kind: "search", rawInput: { path: ".", glob: "~/.ssh/*" } }, other],
  ["a read of text that is a path", { rawInput: "/etc/passwd", locations: [{ path: "a" }] }, other],
  [
    "a command that names its directory",
    { kind: "execute", locations: [{ path: "/ws" }], rawInput: { command: "rm -rf /", cwd: "/ws" } },
    "none: a command may touch any place"
  ],
  [
    "an edit whose text names paths",
    { kind: "edit", rawInput: { fileName: "/ws/a", diff: "--- /dev/null\n+++ ../x" } },
    "a"
  ],
  ["an edit that is a command too", { kind: "edit", rawInput: { fileName: "/ws/a", command: "create" } }, "a"],
  ["a diff", { kind: "edit", content: [{ type: "diff", path: "/ws/a", newText: "" }] }, "a"],
  ["a diff that disagrees", { kind: "edit", locations: [{ path: "a" }], content: [{ type: "diff", path: "b" }] }, many],
  [
    "a diff without a path",
    { kind: "edit", locations: [{ path: "a" }], content: [{ type: "diff" }] },
    "none: a diff has no path"
  ],
  ["content that is no diff", { locations: [{ path: "a" }], content: [{ type: "terminal", path: "b" }, null, 3] }, "a"],
  [
    "locations at the bound",
    { locations: Array.from({ length: limits.requestLocationsMax }, () => ({ path: "a" })) },
    "a"
  ],
  [
    "locations past the bound",
    { locations: Array.from({ length: limits.requestLocationsMax + 1 }, () => ({ path: "a" })) },
    "none: too many locations"
  ],
  [
    "raw input at the bound",
    { rawInput: { path: "a", numbers: Array.from({ length: limits.targetScanValuesMax - 3 }, () => 1) } },
    "a"
  ],
  [
    "raw input past the bound",
    { rawInput: { path: "a", numbers: Array.from({ length: limits.targetScanValuesMax - 2 }, () => 1) } },
    large
  ]
]

/** What hostile paths are made of. */
const piece = Schema.Literals([
  "/",
  "..",
  ".",
  "...",
  "a",
  "ws",
  "/ws",
  "/real",
  "/real/ws",
  "etc",
  "~",
  "\\",
  ":",
  "C:",
  "file://",
  " ",
  "\u0000",
  "\u202e",
  "\u200b",
  "\n",
  "%2e",
  "\ud800",
  "é"
])
const hostilePath = Arbitrary.map(Arbitrary.array(Arbitrary.schema(piece), { maxLength: 12 }), (pieces) =>
  pieces.join("")
)

/** What the kernel would make of an absolute path when nothing is a link. */
const resolved = (path: string): string => {
  const steps: Array<string> = []
  for (const step of path.split("/")) {
    if (step === "..") steps.pop()
    else if (step !== "" && step !== ".") steps.push(step)
  }
  return `/${steps.join("/")}`
}

describe("permissionTarget", () => {
  it.each(places.map((row) => [...row] as const))("reads the path %j as %s", (path, expected) => {
    assert.strictEqual(told(placeInWorkspace(path, roots)), expected)
    assert.strictEqual(told(target({ locations: [{ path }] })), expected)
    assert.strictEqual(told(target({ rawInput: { path } })), expected)
  })

  it.each(sources.map((row) => [...row] as const))("reads %s", (_name, source, expected) => {
    assert.strictEqual(told(target(source)), expected)
  })

  it("admits a path at the bound and none past it", () => {
    const longest = "a".repeat(limits.targetPathCharactersMax)
    assert.strictEqual(told(target({ rawInput: { path: longest } })), longest)
    assert.strictEqual(told(target({ rawInput: { path: `${longest}a` } })), "none: the path is too long")
  })

  it("knows one name for the fields that hold a path, however they are written", () => {
    for (const key of [
      "path",
      "file_path",
      "filePath",
      "file-path",
      "FILENAME",
      "absPath",
      "dir",
      "targetDirectories",
      "uri"
    ]) {
      assert.strictEqual(told(target({ rawInput: { [key]: "/etc/passwd" } })), outside, key)
    }
  })

  it("takes the root of the file system as a workspace", () => {
    assert.strictEqual(told(placeInWorkspace("/etc/passwd", ["/"])), "etc/passwd")
  })

  it("never takes a relative root", () => {
    assert.strictEqual(told(placeInWorkspace("/ws/a", ["ws", ""])), outside)
  })

  it.prop(
    "calls no hostile path inside that the kernel would find outside",
    [hostilePath, Arbitrary.schema(Schema.Literals(["locations", "rawInput", "content"]))],
    ([path, where]) => {
      const kind: RequestKind = where === "content" ? "edit" : "read"
      const source: Partial<TargetSource> = {
        locations: where === "locations" ? [{ path }] : [],
        rawInput: where === "rawInput" ? { file_path: path } : undefined,
        content: where === "content" ? [{ type: "diff", path, newText: "" }] : []
      }
      const found = target({ kind, ...source })
      if (found._tag === "None") return
      assert.notMatch(found.path, /[\p{Cc}\p{Cf}\\:]|(^|\/)\.\.(\/|$)/u)
      const kernel = resolved(path.startsWith("/") ? path : `/ws/${path}`)
      assert.isTrue(
        roots.some((root) => resolved(`${root}/${found.path}`) === kernel),
        `${path} -> ${found.path}`
      )
    },
    { arbitrary: { runs: 5000 } }
  )

  it.prop("says nothing but no to two hostile paths that differ", [hostilePath, hostilePath], ([one, two]) => {
    const found = target({ locations: [{ path: one }], rawInput: { path: two } })
    if (found._tag === "None") return
    assert.strictEqual(told(placeInWorkspace(one, roots)), found.path)
    assert.strictEqual(told(placeInWorkspace(two, roots)), found.path)
  })

  it("compares real paths by whole steps", () => {
    assert.isTrue(isWithin("/ws", "/ws"))
    assert.isTrue(isWithin("/ws/a", "/ws"))
    assert.isTrue(isWithin("/ws/a", "/"))
    assert.isFalse(isWithin("/wsx", "/ws"))
    assert.isFalse(isWithin("/", "/ws"))
    assert.isFalse(isWithin("/ws/../etc", "/ws"))
    assert.isFalse(isWithin("ws/a", "/ws"))
    assert.isFalse(isWithin("/ws/a", ""))
  })
})
