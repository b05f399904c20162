/** The rules of the house that a compiler does not know: the arrows between the rooms, and the deterministic core. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { limits } from "../src/schema/limits.ts"

const root = resolve(import.meta.dirname, "..")
const src = join(root, "src")

const sourceFiles = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(src, path), "utf8") }))

/** The first folder, or the file itself for those that stand in `src`. */
const roomOf = (path: string): string => path.split("/")[0] ?? path

/** Which rooms a room may import from, itself besides. */
const arrows: Readonly<Record<string, ReadonlyArray<string>>> = {
  schema: [],
  services: ["schema"],
  actors: ["schema", "services"],
  layers: ["schema", "services", "actors"],
  testing: ["schema", "services", "actors"],
  programs: ["schema"],
  cli: ["schema", "services", "actors", "layers"],
  "index.ts": ["schema", "services", "actors", "layers"],
  "main.ts": ["schema", "services", "actors", "layers", "cli"]
}

const imports = ({ path, text }: { path: string; text: string }): ReadonlyArray<string> =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, target = ""]) =>
    target.startsWith(".") ? relative(src, resolve(src, dirname(path), target)) : target
  )

const importsOf = (room: string) =>
  sourceFiles.filter(({ path }) => roomOf(path) === room).flatMap((file) => imports(file).map((to) => ({ file, to })))

describe("the rooms", () => {
  it("are all known", () => {
    const rooms = new Set(sourceFiles.map(({ path }) => roomOf(path)))
    expect([...rooms].filter((room) => arrows[room] === undefined)).toEqual([])
  })

  for (const [room, allowed] of Object.entries(arrows)) {
    it(`${room} imports from ${["itself", ...allowed].join(", ")} only`, () => {
      const foreign = importsOf(room)
        .filter(({ to }) => to.endsWith(".ts") && !to.startsWith(".."))
        .filter(({ to }) => roomOf(to) !== room && !allowed.includes(roomOf(to)))
        .map(({ file, to }) => `${file.path} -> ${to}`)
      expect(foreign).toEqual([])
    })
  }

  it("imports of effect name a module, not a barrel", () => {
    const barrels = sourceFiles.flatMap((file) =>
      imports(file)
        .filter((to) => to === "effect" || to === "@effect/platform-node")
        .map((to) => `${file.path} -> ${to}`)
    )
    expect(barrels).toEqual([])
  })

  it("relative imports say .ts", () => {
    const bare = sourceFiles.flatMap((file) =>
      [...file.text.matchAll(/from "(\.[^"]+)"/g)]
        .filter(([, to = ""]) => !to.endsWith(".ts"))
        .map(([, to]) => `${file.path} -> ${to}`)
    )
    expect(bare).toEqual([])
  })
})

/** What makes a run depend on the machine, by room. */
const impure: ReadonlyArray<{
  readonly what: string
  readonly pattern: RegExp
  readonly allowed?: ReadonlyArray<string>
}> = [
  { what: "node:*", pattern: /from "node:/, allowed: ["schema/identity.ts"] },
  { what: "Date", pattern: /\bDate\.now\b|\bnew Date\b/ },
  { what: "timers", pattern: /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/ },
  { what: "process", pattern: /\bprocess\.(?!exit\b)[a-z]/, allowed: ["services/ladder.ts"] },
  { what: "random", pattern: /\bMath\.random\b|\bcrypto\.random|\brandomUUID\b/ },
  { what: "promises", pattern: /\bEffect\.(?:promise|tryPromise|runPromise|runFork)\b|\basync (?:function|\()/ },
  { what: "unbounded queues", pattern: /\b(?:Queue|PubSub)\.unbounded\b/ },
  { what: "detached fibers", pattern: /\bforkDetach\b|\bforkDaemon\b/ }
]

const core = ["schema", "services", "actors"]

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "")

describe("the deterministic core", () => {
  for (const { what, pattern, allowed = [] } of impure) {
    it(`does not know ${what}`, () => {
      const found = sourceFiles
        .filter(({ path }) => core.includes(roomOf(path)) && !allowed.includes(path))
        .filter(({ text }) => pattern.test(withoutComments(text)))
        .map(({ path }) => path)
      expect(found).toEqual([])
    })
  }
})

describe("the table of limits", () => {
  it("has no bound that no test names", () => {
    const tests = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => readFileSync(join(import.meta.dirname, path), "utf8"))
    const named = new Set(tests.flatMap((text) => text.match(/\w+/g) ?? []))
    expect(Object.keys(limits).filter((name) => !named.has(name))).toEqual([])
  })
})

describe("the words", () => {
  it("of a catch-all file are not used", () => {
    const names = /\/?(?:utils?|helpers?|managers?|common|misc)\.ts$/i
    expect(sourceFiles.map(({ path }) => path).filter((path) => names.test(path))).toEqual([])
  })

  it("any, ts-ignore and casts through unknown are not used", () => {
    const loose = /\bas any\b|: any\b|as unknown as|@ts-ignore|@ts-expect-error/
    expect(sourceFiles.filter(({ text }) => loose.test(withoutComments(text))).map(({ path }) => path)).toEqual([])
  })

  it("the version is that of the package", async () => {
    const { version } = await import("../src/schema/version.ts")
    expect(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version).toBe(version)
  })
})
