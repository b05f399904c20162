import { spawnSync } from "node:child_process"
import { closeSync, existsSync, openSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { prpSchemaDocument } from "../../src/schema/prp/contract/jsonSchema.ts"
import { fixture, fixtureText, goldenFile } from "../schema/prp/rules/fixtures.ts"
import { endWorld, greenroom, makeWorld, program, type World } from "./greenroom.ts"

let world: World
beforeEach(() => {
  world = makeWorld()
})
afterEach(() => expect(endWorld(world)).toEqual([]))

const write = (name: string, text: string): string => {
  const file = join(world.workspace, name)
  writeFileSync(file, text)
  return name
}

/** Not every system has one. */
const fullDevices = ["/dev/full"].filter((device) => existsSync(device))

describe("greenroom prp", { timeout: 60_000 }, () => {
  it("validates a document and exits with 0", async () => {
    const { code, stdout, stderr } = await greenroom(world, [
      "prp",
      "validate",
      write("run.json", fixtureText("whole-run"))
    ])
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "run.json: valid, paperclip.prp.fixture.v1\n",
      stderr: ""
    })
  })

  it("validates stdin line by line, names line and place and never a value, and exits with 1", async () => {
    const [first, second] = fixture("whole-run").events
    const lines = [first, { ...second, eventType: "a secret" }, { schema: "paperclip.prp.event.v9" }]
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
    const text = await greenroom(world, ["prp", "validate", "-"], { input })
    expect(text.stdout).toContain("stdin:2: schema_validation (paperclip.prp.event.v1)\n  /eventType: Expected")
    expect(text.stdout).toContain("stdin:3: unsupported_required_version (event)\n  /schema: Expected")
    expect(text.stdout).toMatch(/stdin: 3 values, 2 refused\n$/)
    expect(text.stdout).not.toContain("a secret")
    expect(text.code).toBe(1)
    const json = await greenroom(world, ["prp", "validate", "--json", "-"], { input })
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      values: 3,
      refused: 2,
      refusals: [{ line: 2 }, { line: 3 }]
    })
    expect(json.code).toBe(1)
  })

  it("judges a value that names no schema as the kind that it is told", async () => {
    const file = write("usage.json", "{}")
    const asUsage = await greenroom(world, ["prp", "validate", "--kind", "usage", file])
    expect(asUsage.stdout).toContain("usage.json: schema_validation (usage)")
    const asNothing = await greenroom(world, ["prp", "validate", "--kind", "nothing", file])
    expect(asNothing.code).toBe(2)
  })

  it("reduces a fixture to its golden files, byte by byte", async () => {
    const file = write("run.json", fixtureText("interrupted"))
    const snapshot = await greenroom(world, ["prp", "reduce", file])
    expect(snapshot.stdout).toBe(goldenFile("interrupted", "snapshot"))
    const summary = await greenroom(world, ["prp", "reduce", "--summary", file])
    expect(summary.stdout).toBe(goldenFile("interrupted", "summary"))
  })

  it("reduces the events of a run of its own", async () => {
    const run = await greenroom(world, ["run", "--json", "say hello"])
    const { code, stdout } = await greenroom(world, ["prp", "reduce", "--json", "-"], { input: run.stdout })
    expect(JSON.parse(stdout)).toMatchObject({ turnState: "completed", integrity: "complete", identity: null })
    expect(code).toBe(0)
  })

  it("lists the schemas and prints one", async () => {
    const list = await greenroom(world, ["prp", "schema"])
    expect(list.stdout).toMatch(/^command-v2 +paperclip\.prp\.command\.v2$/m)
    const one = await greenroom(world, ["prp", "schema", "terminal"])
    expect(JSON.parse(one.stdout)).toEqual(prpSchemaDocument("terminal"))
  })

  it("exits with 2 for a file that cannot be read and a schema that nobody knows", async () => {
    const file = await greenroom(world, ["prp", "validate", "absent.json"])
    expect(file).toMatchObject({ code: 2, stdout: "", stderr: "greenroom: absent.json: cannot be read (ENOENT)\n" })
    const schema = await greenroom(world, ["prp", "schema", "nothing"])
    expect(schema).toMatchObject({ code: 2, stdout: "" })
  })

  it.each(fullDevices)("fails when its output cannot be written to %s", (device) => {
    const stdout = openSync(device, "w")
    const file = write("run.json", fixtureText("whole-run"))
    for (const words of [["validate", file], ["reduce", file], ["schema"]]) {
      const { status, stderr } = spawnSync(process.execPath, [program, "prp", ...words], {
        cwd: world.workspace,
        env: world.env,
        stdio: ["ignore", stdout, "pipe"],
        encoding: "utf8"
      })
      expect([status, stderr]).toEqual([1, "greenroom: stdout cannot be written (ENOSPC)\n"])
    }
    closeSync(stdout)
  })

  it("keeps its verdict when nobody reads it", () => {
    const values = write("values.jsonl", '{"schema":"nothing"}\n'.repeat(100_000))
    const script = '"$0" "$1" prp validate "$2" | true; echo "${PIPESTATUS[0]}"'
    const { stdout, stderr } = spawnSync("/bin/bash", ["-c", script, process.execPath, program, values], {
      cwd: world.workspace,
      env: world.env,
      encoding: "utf8"
    })
    expect([stdout, stderr]).toEqual(["1\n", ""])
  })
})
