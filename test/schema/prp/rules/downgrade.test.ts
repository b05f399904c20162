import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { decodePrp } from "../../../../src/schema/prp/contract/decode.ts"
import {
  eventForVersion,
  type MissedEvents,
  missedEvents,
  nothingMissed
} from "../../../../src/schema/prp/rules/downgrade.ts"
import { emptySession, reduceSession } from "../../../../src/schema/prp/rules/reduceSession.ts"
import { fixture } from "./fixtures.ts"

const run = fixture("goal-run")

const delivered = (version: number) => {
  let missed: MissedEvents = nothingMissed
  const events = run.events.map((event) => {
    const sent = eventForVersion(version, event, missed)
    missed = sent.missed
    return sent.event
  })
  return { events, missed }
}

describe("eventForVersion", () => {
  it("leaves everything as it is for a peer of version 2", () => {
    expect(delivered(2)).toEqual({ events: run.events, missed: nothingMissed })
  })

  it("gives a peer of version 1 events of version 1 only, without the content of others", () => {
    const { events } = delivered(1)
    for (const event of events) {
      expect(Result.isSuccess(decodePrp("paperclip.prp.event.v1", event))).toBe(true)
      expect(JSON.stringify(event)).not.toMatch(/session\.goal|Make the parser|🎯/)
    }
    const ordinary = run.events.filter((event) => event.schemaVersion === 1)
    expect(events.filter((event) => run.events.some((one) => one === event))).toEqual(ordinary)
  })

  it("keeps id, number, source and time of what it leaves out, so that there is no gap", () => {
    const { events } = delivered(1)
    const kept = (event: (typeof events)[number]) => [
      event.sourceEventId,
      event.sourceSeq,
      event.emittedAt,
      event.priority
    ]
    expect(events.map(kept)).toEqual(run.events.map(kept))
    const [goal] = run.events.filter(({ schemaVersion }) => schemaVersion === 2)
    const priorities = ([0, 1, 2] as const).map(
      (priority) => goal && eventForVersion(1, { ...goal, priority }, nothingMissed).event.priority
    )
    expect(priorities).toEqual([0, 1, 2])
    const start = emptySession(run.name, run.identity, fixture("whole-run").capabilities)
    expect(reduceSession(start, events).integrity).toBe("complete")
  })

  it("keeps the last of each of two kinds for later: capabilities, and the goal", () => {
    const { missed } = delivered(1)
    const byType = (type: string) => run.events.findLast(({ eventType }) => eventType === type)
    expect(missedEvents(missed)).toEqual([byType("session.capabilities.updated"), byType("session.goal.cleared")])
    expect(missedEvents(nothingMissed)).toEqual([])
  })

  it("keeps nothing of an ordinary event that has the schema of version 2", () => {
    const envelope = {
      sourceEventId: "event-1",
      sourceSeq: 1,
      sourceInstanceId: "runner-1",
      sourceKind: "runner",
      runId: "run-1",
      turnId: "turn-1",
      priority: 1,
      emittedAt: "2026-03-04T05:00:00.000Z"
    } as const
    const secret = {
      schema: "paperclip.prp.event.v2",
      schemaVersion: 2,
      eventType: "plan.updated",
      secret: "s"
    } as const
    const event = { ...envelope, ...secret, payload: { a: 1 }, debug: {} }
    expect(eventForVersion(1, event, nothingMissed)).toEqual({
      event: {
        ...envelope,
        schema: "paperclip.prp.event.v1",
        schemaVersion: 1,
        eventType: "runner.diagnostic",
        payload: { code: "event_requires_v2", message: "An event of PRP v2 was left out." }
      },
      missed: nothingMissed
    })
  })
})
