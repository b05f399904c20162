import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { limits } from "../../../src/schema/limits.ts"
import { CapabilitiesV2 } from "../../../src/schema/prp/contract/capabilities.ts"
import { EmittedEvent, type EventDraft } from "../../../src/schema/prp/event.ts"
import * as drafts from "../../../src/schema/prp/runDrafts.ts"
import { eventOf, requireValid, types } from "./feed.ts"
import { capabilities, result, terminal } from "./runFeed.ts"

const all: ReadonlyArray<EventDraft> = [
  drafts.runnerReconciled("session_lost"),
  drafts.runnerDraining,
  drafts.runnerSuspending,
  drafts.runnerSuspended,
  drafts.phase("workspace_preparing"),
  drafts.phase("ready"),
  drafts.phase("executing"),
  drafts.workspaceReady("/workspace"),
  drafts.harnessStarting("fake"),
  drafts.sessionStarting("s1"),
  drafts.sessionNotOpened("agent_missing", "there is none"),
  drafts.runAttached("r0"),
  drafts.runDetached("r2"),
  drafts.resultProposed(result),
  drafts.runTerminal(terminal),
  ...drafts.offers(capabilities)
]

describe("what is said of a run", () => {
  it("is valid, of v2 where v1 does not know it, and of v1 otherwise", () => {
    for (const draft of all) requireValid(draft)
    const ofV2 = all.filter((draft) => eventOf(draft).schemaVersion === 2)
    expect(types(ofV2)).toStrictEqual(["session.capabilities.updated", "session.goal.snapshot"])
    for (const draft of all) {
      const { schema, schemaVersion } = eventOf(draft)
      expect(schema).toBe(`paperclip.prp.event.v${schemaVersion}`)
    }
  })

  it("is not valid in the envelope of the other version, where that one does not know it", () => {
    const is = Schema.is(EmittedEvent)
    const [capabilitiesUpdated, goal] = drafts.offers(capabilities).map(eventOf)
    const asV1 = { schema: "paperclip.prp.event.v1", schemaVersion: 1 }
    expect(is(capabilitiesUpdated)).toBe(true)
    expect(is({ ...capabilitiesUpdated, ...asV1 })).toBe(false)
    expect(is({ ...goal, ...asV1 })).toBe(false)
  })

  it("has storage in reserve where it is an end", () => {
    expect(types(all.filter(({ priority }) => priority === 0))).toStrictEqual([
      "runner.reconciled",
      "run.result.proposed",
      "run.terminal"
    ])
  })

  it("keeps its words within their bounds", () => {
    const long = "x".repeat(limits.shortTextCharactersMax + 1)
    const bounded = [drafts.workspaceReady(long), drafts.harnessStarting(long), drafts.sessionNotOpened(long, long)]
    for (const draft of bounded) requireValid(draft)
  })

  it("tells the capabilities whole", () => {
    const [updated] = drafts.offers(capabilities)
    const told = updated?.eventType === "session.capabilities.updated" ? updated.payload.capabilities : undefined
    expect(told).toStrictEqual(capabilities)
    expect(Schema.is(CapabilitiesV2)(told)).toBe(true)
  })
})
