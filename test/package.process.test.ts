/** The package as a user gets it: packed, installed into an empty folder, run by this Node. */
import { spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { version } from "../src/schema/version.ts"
import { type Ended, lastLineOf, makeWorld, processesOf, type World } from "./cli/greenroom.ts"

const root = resolve(import.meta.dirname, "..")

let world: World
let installed: Ended
let project = ""
let consumer = ""

/** With the Node of this test first on PATH. */
const run = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = process.env
): Promise<Ended> =>
  new Promise((done) => {
    const PATH = [dirname(process.execPath), env["PATH"]].join(delimiter)
    const child = spawn(command, args, { cwd, env: { ...env, PATH }, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", (error) => done({ code: null, signal: null, stdout, stderr: `${stderr}${error.message}` }))
    child.on("close", (code, signal) => done({ code, signal, stdout, stderr }))
  })

/** A copy, so that what the build writes is not seen by anything that runs from the sources. */
const copyProject = (): string => {
  const copy = join(world.folder, "project")
  mkdirSync(copy)
  for (const name of readdirSync(root)) {
    if (!/^(?:node_modules|dist|\.git|fixtures|test|bench)$/.test(name))
      cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  return copy
}

const isUnreachable = ({ stderr }: Ended): boolean =>
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|E50[234])\b/.test(stderr)

beforeAll(async () => {
  world = makeWorld()
  project = copyProject()
  consumer = join(world.folder, "consumer")
  mkdirSync(consumer)
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  const packed = await run("npm", ["pack", "--pack-destination", world.folder], project)
  const tarball = packed.stdout.trim().split("\n").at(-1) ?? ""
  if (packed.code !== 0) throw new Error(packed.stderr)
  installed = await run("npm", ["install", "--no-audit", "--no-fund", join(world.folder, tarball)], consumer)
}, 240_000)

afterAll(() => world.remove())

const runInstalled = (args: ReadonlyArray<string>): Promise<Ended> =>
  run(join(consumer, "node_modules", ".bin", "greenroom"), args, world.workspace, world.env)

const packageFolder = () => join(consumer, "node_modules", "greenroom")

describe("the package", { timeout: 120_000 }, () => {
  it("installs into an empty folder, with its peers", (context) => {
    if (isUnreachable(installed))
      return context.skip(`the registry cannot be reached: ${installed.stderr.slice(0, 200)}`)
    expect([installed.code, installed.code === 0 ? "" : installed.stderr]).toEqual([0, ""])
    for (const peer of ["effect", "@effect/platform-node"])
      expect(existsSync(join(consumer, "node_modules", peer, "package.json"))).toBe(true)
  })

  it("brings no sources, tests or scripts", (context) => {
    if (installed.code !== 0) return context.skip("it could not be installed")
    expect(readdirSync(packageFolder()).toSorted()).toEqual(
      expect.arrayContaining(["LICENSE", "bin", "dist", "package.json"])
    )
    for (const name of ["src", "test", "scripts", "fixtures", "bench"])
      expect(existsSync(join(packageFolder(), name))).toBe(false)
  })

  it("runs the bundled agent, which edits a file, and leaves nothing", async (context) => {
    if (installed.code !== 0) return context.skip("it could not be installed")
    const ended = await runInstalled(["run", "--policy", "approve-all", 'add "hello" to notes.txt run: cat notes.txt'])
    expect([ended.code, lastLineOf(ended.stderr)]).toEqual([
      0,
      expect.stringMatching(/^greenroom: completed.*all gone$/)
    ])
    expect(readFileSync(join(world.workspace, "notes.txt"), "utf8")).toBe("hello\n")
    expect(processesOf(world)).toEqual([])
  })

  it("starts and ends its demo model", async (context) => {
    if (installed.code !== 0) return context.skip("it could not be installed")
    const agent = ["--policy", "approve-all", "--agent-command", "cat"]
    const ended = await runInstalled(["run", "--demo-model", ...agent, "say hello"])
    expect(ended.stderr).toContain("this agent cannot be given a model server")
    expect(lastLineOf(ended.stderr)).toMatch(/processes: [1-9]\d* started, all gone$/)
  })

  it("can be built again with the same result", async () => {
    const files = () =>
      readdirSync(join(project, "dist"), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".js"))
        .toSorted()
        .map((name) => [name, readFileSync(join(project, "dist", name), "utf8")])
    const first = files()
    writeFileSync(join(project, "dist", "stale.js"), "")
    const built = await run(process.execPath, [join(project, "scripts", "build.ts")], project)
    expect(built.code).toBe(0)
    expect(files()).toEqual(first)
  })

  it("says its version, with and without the rest of the command", async () => {
    const answers = await Promise.all([
      run(process.execPath, [join(root, "bin", "greenroom.js"), "--version"], root),
      run(process.execPath, [join(root, "src", "main.ts"), "--version"], root)
    ])
    expect(answers.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, `greenroom v${version}\n`],
      [0, `greenroom v${version}\n`]
    ])
  })

  it("tells an old Node what it needs, and exits with 2", async () => {
    const old = 'Object.defineProperty(process.versions, "node", { value: "20.11.1" })'
    const bin = join(root, "bin", "greenroom.js")
    const ended = await run(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(old)}`, bin, "--version"],
      root
    )
    expect([ended.code, ended.stdout]).toEqual([2, ""])
    expect(ended.stderr).toBe("greenroom: Node >=22.19.0 is needed, this is 20.11.1 (platform_unsupported)\n")
  })
})
