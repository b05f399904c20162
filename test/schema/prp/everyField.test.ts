/** A wrong value in any field of any update: what comes out is still of the strict contract, and bounded. */
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Result from "effect/Result"
import { decodePrp } from "../../../src/schema/prp/contract/decode.ts"
import { limits } from "../../../src/schema/limits.ts"
import { ended, eventOf, feed, message, payloadsOf, turnState, update } from "./feed.ts"
import { hostileUpdate } from "./hostileUpdate.ts"
import { rowsUnder, withValue } from "./projectionTables.ts"

const wrong: ReadonlyArray<unknown> = [
  "x".repeat(300_000),
  "😀".repeat(100_000),
  "\ud83d".repeat(5_000),
  "\u0000\n\u2028\u001b[31m",
  null,
  undefined,
  true,
  -1,
  0.5,
  2 ** 60,
  [],
  {},
  [[null]],
  Array.from({ length: 3_000 }, (_, index) => ({ type: "content", path: `p${index}`, id: `${index}`, name: "n" })),
  { type: "diff", path: "../x", newText: 7 },
  Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`k${index}`, index]))
]

const bytesMax = 2 * 1024 * 1024

const requireContract = (drafts: ReturnType<typeof feed>["drafts"]): void => {
  for (const draft of drafts) {
    const event = eventOf(draft)
    const decoded = decodePrp("event", event)
    expect(Result.isSuccess(decoded) ? [] : decoded.failure.issues).toStrictEqual([])
    expect(JSON.stringify(event.payload).length).toBeLessThan(bytesMax)
  }
}

describe("a wrong value", () => {
  it.for(rowsUnder("Updates"))("in $field does no harm", ({ example, field }) => {
    const [kind = "", ...path] = field.split(".")
    const base = {
      sessionUpdate: kind,
      toolCallId: "c",
      title: "T",
      content: example,
      compactionId: "c",
      status: "completed"
    }
    for (const value of wrong) {
      const native = path.length === 0 ? Object(value) : withValue(base, path.join("."), value)
      const inTurn = feed(turnState(), update(message("a")), update(native), update(message("b")), ended("failed"))
      requireContract(inTurn.drafts)
      requireContract(feed(inTurn.state, update(native)).drafts)
      expect(payloadsOf(inTurn.drafts, "item.delta").map(({ text }) => text)).toEqual(
        expect.arrayContaining(["a", expect.stringMatching(/b$/)])
      )
    }
  })
})

const piece = Arbitrary.schema(Schema.Literals(["a", "é", "😀", "\ud83d", "\ude00", "", "\n", "x".repeat(70_000)]))

describe("random updates", () => {
  it.prop(
    "become events of the strict contract, in bounded size",
    [Arbitrary.array(hostileUpdate, { maxLength: 8 })],
    ([updates]) => requireContract(feed(turnState(), ...updates.map(update), ended("cancelled")).drafts),
    { arbitrary: { runs: 200 } }
  )

  it.prop(
    "of text are, joined, the text of their item, however it is cut",
    [Arbitrary.array(piece, { maxLength: 12 })],
    ([pieces]) => {
      const { drafts } = feed(turnState(), ...pieces.map((text) => update(message(text))), ended("completed"))
      const told = payloadsOf(drafts, "item.delta")
      expect(told.map(({ text }) => text).join("")).toBe(pieces.join("").toWellFormed())
      for (const { text } of told) expect(text.length).toBeLessThanOrEqual(2 * limits.deltaCharactersMax)
      if (pieces.length > 0) {
        expect(payloadsOf(drafts, "item.completed")[0]?.text).toBe(pieces.join("").toWellFormed())
      }
    },
    { arbitrary: { runs: 200 } }
  )
})
