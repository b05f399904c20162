import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import type { EventDraft } from "../../../src/schema/prp/event.ts"
import { nativeAt } from "../../../src/schema/prp/native.ts"
import type { ProjectionInput } from "../../../src/schema/prp/projection.ts"
import { ended, feed, message, sessionState, toolCall, toolUpdate, turnState, update } from "./feed.ts"
import { hostileUpdate } from "./hostileUpdate.ts"

const inputs = Arbitrary.map(Arbitrary.array(hostileUpdate, { maxLength: 12 }), (updates) => updates.map(update))
const how = Arbitrary.map(hostileUpdate, (value) =>
  ended(value === null ? "failed" : Array.isArray(value) ? "completed" : "cancelled")
)

/** For each id, the phases of its life in order. */
const lives = (drafts: ReadonlyArray<EventDraft>, family: string) => {
  const byId = new Map<string, Array<string>>()
  for (const { eventType, itemId } of drafts) {
    if (itemId === undefined || !eventType.startsWith(family)) continue
    byId.set(itemId, [...(byId.get(itemId) ?? []), eventType.slice(family.length)])
  }
  return [...byId.values()].map((phases) => phases.join(" "))
}

const chunks: ReadonlyArray<unknown> = ["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]

const isChunk = (native: unknown): boolean => chunks.includes(nativeAt(native, "sessionUpdate"))

describe("any JSON from an agent", () => {
  it.prop(
    "becomes valid events, with every item and tool call started once and ended once",
    [inputs, how],
    ([updates, end]) => {
      const { drafts, state } = feed(turnState(), ...updates, end, ...updates)
      for (const life of lives(drafts, "item.")) expect(life).toMatch(/^started( delta)* (completed|failed)$/)
      for (const life of lives(drafts, "tool.execution.")) expect(life).toMatch(/^started( progressed)* completed$/)
      expect(state).toMatchObject({ item: undefined, ended: true })
      expect(state.tools.size).toBe(0)
    },
    { arbitrary: { runs: 400 } }
  )

  it.prop(
    "is carried whole by an event, unless it is plain text",
    [inputs],
    ([updates]) => {
      const carried = new Set(feed(sessionState(), ...updates).drafts.map((draft) => draft.debug?.["native"]))
      for (const input of updates) {
        const native = nativeOf(input)
        if (!isChunk(native)) expect(carried.has(native ?? null)).toBe(true)
      }
    },
    { arbitrary: { runs: 400 } }
  )

  it.prop(
    "does not disturb a tool call of another id, nor what it says of a message",
    [inputs],
    ([updates]) => {
      const drafts = feed(
        turnState(),
        update(toolCall("mine")),
        ...updates,
        update(message("well-behaved", "mine")),
        update(toolUpdate("mine", { status: "completed", rawOutput: "out" })),
        ended("completed")
      ).drafts
      const mine = drafts.filter((draft) => draft.itemId === "mine")
      expect(mine.map((draft) => draft.eventType)).toStrictEqual(["tool.execution.started", "tool.execution.completed"])
      expect(mine.at(-1)?.payload).toMatchObject({ status: "completed", output: "out" })
      expect(drafts.findLast((draft) => draft.eventType === "item.completed")?.payload).toMatchObject({
        kind: "assistant_message",
        text: "well-behaved",
        status: "completed"
      })
    },
    { arbitrary: { runs: 300 } }
  )
})

const nativeOf = (input: ProjectionInput): unknown => (input._tag === "Update" ? input.update : undefined)
