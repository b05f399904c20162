import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { limits } from "../../../src/schema/limits.ts"
import { workspaceDiff } from "../../../src/schema/prp/changes.ts"
import { draftOf, EmittedEvent, validateEvent } from "../../../src/schema/prp/event.ts"
import { EventType, priorityOf } from "../../../src/schema/prp/eventType.ts"
import { eventOf } from "./feed.ts"

const event = eventOf(draftOf("item.delta", { kind: "reasoning", text: "x" }, { turnId: "t", itemId: "i" }))

const notice = eventOf(
  draftOf("provider.notice.recorded", {
    schema: "paperclip.provider.notice.v1",
    noticeId: "n1",
    severity: "info",
    category: "c",
    scope: "turn",
    recoverable: true,
    userActionable: false,
    summary: ""
  })
)

const issueOf = (value: unknown) => {
  const validated = validateEvent(value)
  return Result.isFailure(validated) ? validated.failure.issue : undefined
}

describe("envelope", () => {
  it("puts a draft behind its stamp", () => {
    expect(event).toStrictEqual({
      schema: "paperclip.prp.event.v1",
      schemaVersion: 1,
      sourceKind: "runner",
      sourceEventId: "e1",
      sourceSeq: 1,
      sourceInstanceId: "i1",
      runId: "r1",
      emittedAt: "2026-01-02T03:04:05.678Z",
      normalizedSessionId: "s1",
      eventType: "item.delta",
      priority: 2,
      turnId: "t",
      itemId: "i",
      payload: { kind: "reasoning", text: "x" }
    })
  })
})

describe("validateEvent", () => {
  it("bounds a point in time", () => {
    const emittedAt = (characters: number) => `2026-01-02T03:04:05.${"0".repeat(characters - 21)}Z`
    expect(issueOf({ ...event, emittedAt: emittedAt(limits.timestampCharactersMax) })).toBeUndefined()
    expect(issueOf({ ...event, emittedAt: emittedAt(limits.timestampCharactersMax + 1) })).toContain('["emittedAt"]')
  })

  it("bounds the texts of a notice", () => {
    const noticeWith = (more: object) => ({ ...notice, payload: { ...notice.payload, ...more } })
    const { noticeCategoryCharactersMax, shortTextCharactersMax } = limits
    expect(issueOf(noticeWith({ category: "c".repeat(noticeCategoryCharactersMax) }))).toBeUndefined()
    expect(issueOf(noticeWith({ category: "c".repeat(noticeCategoryCharactersMax + 1) }))).toContain('["category"]')
    expect(issueOf(noticeWith({ summary: "s".repeat(shortTextCharactersMax) }))).toBeUndefined()
    expect(issueOf(noticeWith({ summary: "s".repeat(shortTextCharactersMax + 1) }))).toContain('["summary"]')
  })

  it("bounds the id of a change and the reference to its patch", () => {
    const { changeSetIdCharactersMax, patchReferenceCharactersMax } = limits
    const changeWith = (id: number, reference: number) => {
      const payload = { ...workspaceDiff("c".repeat(id), []), patchArtifactRef: "r".repeat(reference) }
      return eventOf(draftOf("workspace.change.updated", payload))
    }
    const issue = (id: number, reference: number) => issueOf(changeWith(id, reference))
    expect(issue(changeSetIdCharactersMax, patchReferenceCharactersMax)).toBeUndefined()
    expect(issue(changeSetIdCharactersMax + 1, patchReferenceCharactersMax)).toContain('["changeSetId"]')
    expect(issue(changeSetIdCharactersMax, patchReferenceCharactersMax + 1)).toContain('["patchArtifactRef"]')
  })

  it("keeps unknown properties of the envelope, of debug and of an open payload", () => {
    const open = { ...event, later: { a: 1 }, debug: { native: [1] }, payload: { ...event.payload, later: true } }
    expect(validateEvent(open)).toStrictEqual(Result.succeed(open))
  })

  it("refuses an unknown property of a closed payload", () => {
    expect(issueOf(notice)).toBeUndefined()
    expect(issueOf({ ...notice, payload: { ...notice.payload, later: true } })).toContain('["payload"]["later"]')
  })

  it("accepts any object as a payload that PRP leaves open", () => {
    expect(issueOf({ ...event, eventType: "run.attached", payload: { whatever: [] } })).toBeUndefined()
    expect(issueOf({ ...event, payload: { text: "of another source" } })).toBeUndefined()
  })

  const broken: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
    ["an unknown event type", { eventType: "item.exploded" }],
    ["a type named like a property of every object", { eventType: "constructor" }],
    ["another schema", { schema: "paperclip.prp.event.v2" }],
    ["another version", { schemaVersion: 2 }],
    ["sequence 0", { sourceSeq: 0 }],
    ["a fractional sequence", { sourceSeq: 1.5 }],
    ["a sequence beyond what a double can count", { sourceSeq: 2 ** 53 }],
    ["an empty id", { sourceEventId: "" }],
    ["an id of 161 characters", { runId: "x".repeat(161) }],
    ["a turn id of 241 characters", { turnId: "x".repeat(241) }],
    ["priority 3", { priority: 3 }],
    ["another source kind", { sourceKind: "agent" }],
    ["a payload that is no object", { payload: [] }],
    ["a channel that does not exist", { payload: { channel: "loud" } }],
    ["a day that does not exist", { emittedAt: "2026-02-29T00:00:00Z" }],
    ["a time without an offset", { emittedAt: "2026-02-28T00:00:00" }],
    ["debug that is no object", { debug: "x" }]
  ]
  for (const [what, change] of broken) {
    it(`refuses ${what}`, () => {
      expect(issueOf({ ...event, ...change })).toBeDefined()
    })
  }

  const bounds: ReadonlyArray<Readonly<Record<string, unknown>>> = [
    { sourceSeq: 2 ** 53 - 1 },
    { runId: "x".repeat(160) },
    { turnId: "😀".repeat(240) },
    { emittedAt: "2017-01-01T05:29:60.123456789+05:30" },
    { emittedAt: "2026-12-31t00:00:00z" }
  ]
  for (const change of bounds) {
    it(`accepts ${JSON.stringify(change).slice(0, 60)}`, () => {
      expect(issueOf({ ...event, ...change })).toBeUndefined()
    })
  }

  it("refuses what is no object", () => {
    for (const value of [null, undefined, 1, "x", [], [event]]) expect(issueOf(value)).toBeDefined()
  })
})

describe("EmittedEvent", () => {
  it("holds us to more than the contract does", () => {
    const is = Schema.is(EmittedEvent)
    expect(is(event)).toBe(true)
    expect(is({ ...event, payload: { text: "of another source" } })).toBe(false)
    expect(is({ ...event, payload: { kind: "reasoning", text: 1 } })).toBe(false)
    expect(is({ ...event, turnId: "" })).toBe(false)
  })
})

describe("priorityOf", () => {
  it("keeps storage for every end and lets only text and diagnostics be coalesced", () => {
    const byPriority = (priority: number) => EventType.literals.filter((type) => priorityOf(type) === priority)
    expect(byPriority(0)).toStrictEqual([
      "runner.reconciled",
      "runner.backpressure",
      "harness.exited",
      "turn.completed",
      "turn.failed",
      "turn.interrupted",
      "turn.cancelled",
      "run.result.proposed",
      "run.terminal"
    ])
    expect(byPriority(2)).toStrictEqual(["runner.diagnostic", "harness.diagnostic", "item.delta"])
  })
})
