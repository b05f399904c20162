import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { PrpRejected, QuestionResponseRefused, QuestionSetRefused } from "../../src/schema/errors.ts"
import { prpJsonSchema } from "../../src/schema/prp/contract/jsonSchema.ts"
import { prpSchemas } from "../../src/schema/prp/contract/kinds.ts"
import { isPrpKind } from "../../src/schema/prp/rules/judgeValue.ts"
import { explainedReasons } from "./explained.ts"

const page = readFileSync(join(import.meta.dirname, "../../docs/prp.md"), "utf8")

/** The rows of the table with that head. */
const rowsUnder = (head: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = page.split("\n")
  const from = lines.findIndex((line) => line.startsWith(`| ${head} |`))
  const after = lines.slice(from + 2)
  return after
    .slice(
      0,
      after.findIndex((line) => !line.startsWith("|"))
    )
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", ""))
    )
}

describe("the page of the contract", () => {
  it("explains every disagreement that is taken for right, and no other", () => {
    const rows = rowsUnder("disagreement")
    expect(rows.map(([reason]) => reason)).toEqual(explainedReasons)
    for (const [, why = ""] of rows) expect(why.length).toBeGreaterThan(20)
  })

  it("lists every kind, and whether it is open", () => {
    const kinds = Object.keys(prpSchemas)
      .filter(isPrpKind)
      .map((kind) => {
        const { additionalProperties, anyOf } = prpJsonSchema(kind)
        return [kind, additionalProperties === true ? "open" : anyOf === undefined ? "closed" : "a choice"]
      })
    const choices = new Set(["provider_descriptor"])
    expect(rowsUnder("kind")).toEqual(kinds.map(([kind = "", is]) => [kind, choices.has(kind) ? "closed" : is]))
  })

  it("lists every code of a rejection", () => {
    const codes = [
      ...PrpRejected.fields.code.literals,
      QuestionSetRefused.fields.code.schema.literal,
      QuestionResponseRefused.fields.code.schema.literal
    ]
    expect(
      rowsUnder("code")
        .map(([code]) => code)
        .sort()
    ).toEqual([...codes].sort())
  })
})
