import { describe, expect, it } from "vitest"
import { limits } from "../../../src/schema/limits.ts"
import { coalesced } from "../../../src/schema/prp/coalesce.ts"
import { draftOf, type EventDraft } from "../../../src/schema/prp/event.ts"

const delta = (
  text: string,
  itemId = "i1",
  kind: "assistant_message" | "reasoning" = "assistant_message",
  turnId = "t1"
) => draftOf("item.delta", { kind, text }, { itemId, turnId })

const texts = (drafts: ReadonlyArray<EventDraft>) =>
  drafts.map((draft) => (draft.eventType === "item.delta" ? draft.payload.text : draft.eventType))

describe("pieces of text that come together", () => {
  it("are one event as long as they are of one item, one after the other", () => {
    expect(texts(coalesced([delta("a"), delta("b"), delta("c")]))).toEqual(["abc"])
    expect(coalesced([delta("a"), delta("b")])[0]).toEqual(delta("ab"))
  })

  it("of another item, kind or turn begin another event", () => {
    expect(texts(coalesced([delta("a"), delta("b", "i2"), delta("c", "i2"), delta("d")]))).toEqual(["a", "bc", "d"])
    expect(texts(coalesced([delta("a"), delta("b", "i1", "reasoning")]))).toEqual(["a", "b"])
    expect(texts(coalesced([delta("a"), delta("b", "i1", "assistant_message", "t2")]))).toEqual(["a", "b"])
  })

  it("are not moved across anything else", () => {
    const started = draftOf("turn.started", {}, { turnId: "t1" })
    expect(texts(coalesced([delta("a"), started, delta("b"), delta("c")]))).toEqual(["a", "turn.started", "bc"])
  })

  it("are as long together as a piece may be, and not longer", () => {
    const max = limits.deltaCharactersMax
    const most = "x".repeat(max - 1)
    expect(texts(coalesced([delta(most), delta("y")]))).toEqual([`${most}y`])
    expect(texts(coalesced([delta(most), delta("yz"), delta("!")]))).toEqual([most, "yz!"])
  })

  it("that say more than text stay as they are", () => {
    const image = draftOf(
      "item.delta",
      { kind: "assistant_message", text: "", content: { type: "image" } },
      { itemId: "i1" }
    )
    const native: EventDraft = { ...delta("b"), debug: { native: 1 } }
    const drafts = [delta("a"), native, delta("c"), image, image]
    expect(coalesced(drafts)).toEqual(drafts)
  })

  it("are the same objects when there is nothing to join", () => {
    const [one, two] = [delta("a"), delta("b", "i2")]
    const made = coalesced([one, two])
    expect(made[0]).toBe(one)
    expect(made[1]).toBe(two)
    expect(coalesced([])).toEqual([])
  })
})
