import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  isPrpSchemaName,
  prpSchemaDocument,
  prpSchemaKinds,
  type PrpSchemaName
} from "../../src/schema/prp/contract/jsonSchema.ts"
import { type Report, reportOn } from "./report.ts"

const corpus = join(import.meta.dirname, "../../fixtures/prp")
const names = Object.keys(prpSchemaKinds).filter(isPrpSchemaName)

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "greenroom-conformance-"))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const write = (file: string, text: string) => {
  mkdirSync(dirname(join(directory, file)), { recursive: true })
  writeFileSync(join(directory, file), text)
}

const writeSchema = (file: string, schema: unknown) => write(`schemas/${file}.schema.json`, JSON.stringify(schema))

/** A folder as others have it: what is needed to judge a fixture, and one replayed run with its golden files. */
const writeReference = (schemas: ReadonlyArray<PrpSchemaName> = ["fixture", "terminal", "usage"]) => {
  for (const name of schemas) writeSchema(name, prpSchemaDocument(name))
  for (const file of ["whole-run.json", "golden/whole-run.snapshot.json", "golden/whole-run.summary.json"]) {
    cpSync(join(corpus, "replay", file), join(directory, "fixtures/replay", file))
  }
}

const report = (instances = 3, from = directory): Report & { readonly text: string } => {
  const lines: Array<string> = []
  const { ok, figures } = reportOn({ directory: from, instances, seed: 5 }, (line) => lines.push(line))
  return { ok, figures, text: lines.join("\n") }
}

const run = (): Record<string, unknown> =>
  JSON.parse(readFileSync(join(directory, "fixtures/replay/whole-run.json"), "utf8"))

const writeRun = (file: string, changes: object) => write(`fixtures/${file}`, JSON.stringify({ ...run(), ...changes }))

describe("our own corpus", () => {
  it("conforms", { timeout: 120_000 }, () => {
    const { ok, figures, text } = report(20, corpus)
    expect(text).not.toContain("unexplained:")
    expect({ ok, problems: figures.problems, unexplained: figures.unexplained }, text).toEqual({
      ok: true,
      problems: 0,
      unexplained: 0
    })
    expect(figures.schemas).toBe(names.length)
    expect(figures.instances).toBe(names.length * 20)
    expect(figures.goldens).toBe(18)
  })
})

describe("a reference", () => {
  it("that says what we say conforms, and its golden files are equal", () => {
    writeReference(names.filter((name) => name !== "manifest"))
    const { ok, figures, text } = report()
    expect(ok, text).toBe(true)
    expect(figures).toMatchObject({ schemas: names.length - 1, goldens: 2, problems: 0, unexplained: 0, fixtures: 3 })
    expect(figures.values).toBeGreaterThan(20)
  })

  it("with another bound or member than ours is found out, by its instances or its fixtures", () => {
    writeReference()
    const terminal = JSON.stringify(prpSchemaDocument("terminal"))
    write("schemas/terminal.schema.json", terminal.replaceAll('"interrupted"', '"stopped"'))
    const { ok, figures, text } = report(60)
    expect(ok).toBe(false)
    expect(figures.unexplained).toBeGreaterThan(0)
    expect(text).toContain("unexplained: the reference accepts and we refuse")
  })

  it("that accepts larger integers than JSON carries differs, and that is explained", () => {
    writeReference()
    const usage = JSON.stringify(prpSchemaDocument("usage")).replaceAll(/,"maximum":9007199254740991/g, "")
    write("schemas/usage.schema.json", usage)
    const { ok, figures, text } = report(200)
    expect(ok, text).toBe(true)
    expect(figures.disagreements).toBeGreaterThan(0)
    expect(text).toContain("explained: integer beyond 2^53 - 1: ")
  })
})

describe("a folder that is no reference", () => {
  const verdict = () => {
    const { ok, figures, text } = report()
    return { ok, problems: figures.problems, text }
  }

  it("is told when it is missing, or has no schemas", () => {
    expect(report(1, join(directory, "absent"))).toMatchObject({ ok: false, figures: { schemas: 0, problems: 1 } })
    expect(verdict()).toMatchObject({ ok: false, text: expect.stringContaining("schemas is no folder") })
  })

  it("is told when nothing in it can be compared", () => {
    mkdirSync(join(directory, "schemas"))
    const { ok, text } = verdict()
    expect(ok).toBe(false)
    expect(text).toContain("problem: no schema was compared")
    expect(text).toContain("problem: no fixture was judged")
  })

  it.each([
    ["is no JSON", "{", "JSON"],
    ["is no schema", "[]", "no schema with an $id"],
    ["has a keyword of the wrong type", '{"$id":"urn:x:terminal","type":7}', "! schema is invalid"],
    ["refers to nothing", '{"$id":"urn:x:terminal","allOf":[{"$ref":"urn:x:nothing"}]}', "! can't resolve reference"]
  ])("is told of a schema that %s", (_what, schema, problem) => {
    writeReference()
    write("schemas/terminal.schema.json", schema)
    const { ok, text } = verdict()
    expect(ok).toBe(false)
    expect(text).toContain(problem)
  })

  it("is told of a schema that we do not know", () => {
    writeReference()
    writeSchema("later", { $id: "urn:x:later", type: "object" })
    expect(verdict()).toMatchObject({ ok: false, problems: 1, text: expect.stringContaining("we know no such schema") })
  })
})

describe("a fixture", () => {
  const problems = (): string => {
    const { ok, text } = report()
    expect(ok).toBe(false)
    return text
  }

  it("whose golden file is one byte off is told", () => {
    writeReference()
    write("fixtures/replay/golden/whole-run.summary.json", "{}")
    expect(problems()).toContain("! whole-run.summary.json differs")
  })

  it("that lacks one of its golden files, or leaves one over, is told", () => {
    writeReference()
    rmSync(join(directory, "fixtures/replay/golden/whole-run.summary.json"))
    write("fixtures/replay/golden/gone.snapshot.json", "{}")
    const text = problems()
    expect(text).toContain("! has no whole-run.summary.json")
    expect(text).toContain("! of no run beside its folder")
  })

  it("with golden files must be accepted", () => {
    writeReference()
    writeRun("replay/whole-run.json", { commands: [], events: [] })
    expect(problems()).toContain("! must be accepted: schema_validation")
  })

  it("named after an unsupported version, or under rejected, must be refused", () => {
    writeReference()
    writeRun("replay/my-unsupported-required-version.json", {})
    writeRun("rejected/fine.json", {})
    const text = problems()
    expect(text).toContain("! not refused as its name says")
    expect(text).toContain("! accepted, and must be refused")
  })

  it("named after an unsupported version and refused for it is right, and so is one without golden files among runs", () => {
    writeReference()
    writeRun("replay/my-unsupported-required-version.json", { protocolVersion: 3 })
    writeRun("replay/of-another-run.json", { identity: { ...Object(run()["identity"]), runId: "other" } })
    const { ok, text } = report()
    expect(ok, text).toBe(true)
    expect(text).toMatch(/my-unsupported-required-version.json .* unsupported_required_version/)
    expect(text).toMatch(/of-another-run.json .* binding_mismatch/)
  })

  it("that its schema accepts and our rules refuse is told where nothing says that it is to be refused", () => {
    writeReference()
    writeRun("others/of-another-run.json", { identity: { ...Object(run()["identity"]), runId: "other" } })
    expect(problems()).toContain("! valid by its schema: binding_mismatch /events/0/runId")
  })

  it("that is no JSON is told", () => {
    writeReference()
    write("fixtures/replay/broken.json", "{")
    expect(problems()).toContain("! no JSON")
  })

  it("is judged behind a link, too, and a link that leads nowhere is told", () => {
    writeReference()
    write("elsewhere.json", "{")
    symlinkSync("../../elsewhere.json", join(directory, "fixtures/replay/linked.json"))
    symlinkSync("../../gone.json", join(directory, "fixtures/replay/dangling.json"))
    const text = problems()
    expect(text).toMatch(/^replay\/linked\.json .*\n {2}! no JSON$/m)
    expect(text).toMatch(/^replay\/dangling\.json .* unreadable\n {2}! ENOENT/m)
  })

  it("that is no text in UTF-8 is told", () => {
    writeReference()
    write("fixtures/replay/broken.json", "")
    writeFileSync(join(directory, "fixtures/replay/broken.json"), Buffer.from([0x22, 0xff, 0x22]))
    expect(problems()).toMatch(/^replay\/broken\.json .* unreadable$/m)
  })

  it("of a kind that we do not know must not stand under accepted, and may under rejected", () => {
    writeReference()
    write("fixtures/accepted/later.json", '{"schema":"paperclip.later.v1"}')
    expect(problems()).toContain("! must be accepted: schema_validation /schema")
    rmSync(join(directory, "fixtures/accepted"), { recursive: true })
    write("fixtures/invalid/later.json", '{"schema":"paperclip.later.v1"}')
    write("fixtures/valid/of-no-name.json", "{}")
    expect(report().ok).toBe(true)
  })

  it("that is a script of a harness must be one, but under rejected", () => {
    writeReference()
    const script = (steps: unknown) => JSON.stringify({ schema: "paperclip.fake_harness.script.v1", name: "n", steps })
    write("fixtures/rejected/scripts/none.json", script([]))
    write("fixtures/scripts/one.json", script([{ kind: "exit", code: 0 }]))
    expect(report().ok).toBe(true)
    write("fixtures/scripts/none.json", script([]))
    write("fixtures/rejected/scripts/one.json", script([{ kind: "exit", code: 0 }]))
    const text = problems()
    expect(text).toMatch(/^scripts\/none\.json .*\n {2}! no script: /m)
    expect(text).toMatch(/^rejected\/scripts\/one\.json .*\n {2}! a script, and must be none$/m)
  })
})
