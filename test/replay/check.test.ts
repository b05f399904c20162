/** A replay that went wrong is noticed: each test breaks a good one in one way. */
import { join } from "node:path"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { Event } from "../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../src/schema/prp/terminals.ts"
import { check } from "./check.ts"
import { planOf } from "./plan.ts"
import { replay, type Replayed } from "./replay.ts"
import { parseTranscript } from "./transcript.ts"

const file = join(import.meta.dirname, "../../fixtures/wire/bundled-0.1.0/allow.jsonl")
const good = replay(planOf(parseTranscript("allow", readFileSync(file, "utf8"))))

const brokenBy = (change: Partial<Replayed>) => check({ ...good, ...change }).broken.join("\n")

const without = (is: (event: Event) => boolean): Partial<Replayed> => {
  const at = good.events.findIndex(is)
  return { events: good.events.toSpliced(at, 1) }
}

const twice = (is: (event: Event) => boolean): Partial<Replayed> => {
  const found = good.events.filter(is)
  return { events: [...good.events, ...found] }
}

const ofType = (eventType: Event["eventType"]) => (event: Event) => event.eventType === eventType

describe("a replay", () => {
  it("that is good has no faults", () => {
    expect(check(good)).toMatchObject({ lost: 0, terminals: 1, broken: [] })
  })

  for (const eventType of ["item.delta", "plan.updated", "session.updated", "tool.execution.progressed"] as const) {
    it(`that lost one ${eventType} is noticed`, () => {
      expect(check({ ...good, ...without(ofType(eventType)) }).lost).toBe(1)
    })
  }

  it("that lost one value of an update, a request or an answer is noticed", () => {
    const changed = (is: (event: Event) => boolean, change: (event: Event) => Event) =>
      brokenBy({ events: good.events.map((event) => (is(event) ? change(event) : event)) })
    const withoutNative = (event: Event): Event => ({ ...event, debug: {} })
    const lostIn = (eventType: Event["eventType"]) => changed(ofType(eventType), withoutNative)
    expect(lostIn("tool.execution.started")).toContain("a value is in no event: line 28: tool_call toolCallId")
    expect(lostIn("runtime_request.created")).toMatch(/in no event: line \d+: session\/request_permission options/)
    expect(changed(isTurnTerminal, (event) => ({ ...event, payload: {} }) as Event)).toContain(
      "prompt result stopReason"
    )
    const shortened = (event: Event) =>
      event.eventType === "item.delta" ? { ...event, payload: { ...event.payload, text: "" } } : event
    expect(changed(ofType("item.delta"), shortened)).toContain("agent_message_chunk content.text")
  })

  it("with an event that the contract refuses is noticed", () => {
    const started = good.events.find(ofType("tool.execution.started"))!
    const refused = { ...started, payload: { ...started.payload, novel: 1 } } as Event
    expect(brokenBy({ events: good.events.with(good.events.indexOf(started), refused) })).toMatch(
      /event \d+ is not valid: paperclip.prp.event.v1|event \d+ is not valid/
    )
  })

  it("with two pieces of text exchanged is noticed", () => {
    const deltas = good.events.filter(ofType("item.delta"))
    const [first, second] = deltas.slice(-2)
    const events = good.events.map((event) => (event === first ? second! : event === second ? first! : event))
    expect(brokenBy({ events })).toContain("the assistant_message is not what the agent said")
  })

  it("with an update told twice is noticed", () => {
    expect(brokenBy(twice(ofType("session.updated")))).toContain("1 events carry an update that the agent did not send")
  })

  it("with two terminals, or none, is noticed", () => {
    expect(brokenBy(twice(isTurnTerminal))).toContain("turn-0 has 2 terminals")
    expect(brokenBy(without(isTurnTerminal))).toContain("turn-0 has 0 terminals")
  })

  it("with text behind its terminal is noticed", () => {
    expect(brokenBy(twice(ofType("item.delta")))).toContain("turn-0 has events behind its terminal")
  })

  it("with a tool call that is not completed is noticed", () => {
    expect(brokenBy(without(ofType("tool.execution.completed")))).toContain("the tool call tool-2 went started")
  })

  it("with a request that was answered twice, not at all, or by another type of id is noticed", () => {
    const answer = good.written.findIndex((frame) => "result" in frame)
    const frame = good.written[answer]!
    expect(brokenBy({ written: [...good.written, frame] })).toContain("the request 0 was answered 2 times")
    expect(brokenBy({ written: good.written.toSpliced(answer, 1) })).toContain("was answered 0 times")
    expect(brokenBy({ written: good.written.with(answer, { ...frame, id: "0" }) })).toContain(
      'the request "0" was answered 1 times'
    )
  })

  it("with a request that was never settled is noticed", () => {
    expect(brokenBy(without(ofType("runtime_request.resolved")))).toMatch(/the request request_\w+ ended 0 times/)
  })

  it("with two cancels of one turn, or a frame of any other kind, is noticed", () => {
    const cancel = { method: "session/cancel" }
    expect(brokenBy({ written: [...good.written, cancel, cancel] })).toContain("two cancel frames of one turn")
    expect(brokenBy({ written: [...good.written, { method: "session/list" }] })).toContain("session/list were written")
  })

  it("with a gap in its sequence is noticed", () => {
    expect(brokenBy(without(ofType("item.started")))).toContain("has the number")
  })
})
