import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { DurableJournal } from "../../src/actors/durableJournal.ts"
import { Journal } from "../../src/actors/Journal.ts"
import { draftOf, type EventDraft } from "../../src/schema/prp/event.ts"
import { turnTerminal } from "../../src/schema/prp/projection.ts"
import { recoveryOf } from "../../src/schema/prp/recoveryDrafts.ts"
import { runAttached, runDetached, sessionStarting } from "../../src/schema/prp/runDrafts.ts"
import { sessionClosed, sessionCrashed, sessionStarted } from "../../src/schema/prp/sessionDrafts.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"
import { append, asked, entry, eventsOf, force, inLife, type ProbedStore, probedStore } from "./durableHost.ts"

const submitted = (turnId = "t1") => draftOf("turn.submitted", {}, { turnId })

const ended = (outcome: TurnOutcome["_tag"], by: "interrupt" | "agent" = "agent"): EventDraft =>
  turnTerminal("t1", outcomes(by)[outcome])

const outcomes = (by: "interrupt" | "agent") =>
  ({
    Completed: { _tag: "Completed", stopReason: "end_turn", reply: "none", undeliveredEvents: 0 },
    Failed: { _tag: "Failed", reason: "crashed", detail: "", undeliveredEvents: 0 },
    Cancelled: { _tag: "Cancelled", by, acknowledged: true, written: true, undeliveredEvents: 0 }
  }) as const

const started = sessionStarted("s1", "fake", "a1")
const closed = sessionClosed({ steps: [], proof: "none", processesSeen: 0, survivors: [] })

const recovered = Effect.map(DurableJournal, (journal) => journal.recovered)

/** What the next process finds, by kind and id. */
const found = (probe: ProbedStore) =>
  Effect.map(inLife(probe, recovered), ({ records }) => records.map(({ id, kind, value }) => [kind, id, value]))

const turn = (turnId: string) => ["turn", `s1/${turnId}`, { runId: "r1", sessionId: "s1", turnId }]
const session = (runId: string) => ["session", "s1", { runId, sessionId: "s1" }]

describe("a restart finds", () => {
  for (const [what, end] of [
    ["completed", ended("Completed")],
    ["failed", ended("Failed")],
    ["interrupted", ended("Cancelled", "interrupt")],
    ["cancelled", ended("Cancelled")]
  ] as const) {
    it.effect(`a turn that is submitted, and not one that is ${what}`, () =>
      Effect.gen(function* () {
        const probe = probedStore()
        yield* inLife(probe, append(submitted("t1"), submitted("t2"), draftOf("turn.started", {}, { turnId: "t1" })))
        expect(yield* found(probe)).toEqual([turn("t1"), turn("t2")])
        yield* inLife(probe, force(end))
        expect(yield* found(probe)).toEqual([turn("t2")])
      })
    )
  }

  for (const [what, drafts] of [
    ["is closed", [closed]],
    ["has failed", [sessionCrashed]],
    ["has failed and is closed", [sessionCrashed, closed]],
    ["has gone over to another run", [runDetached("r2")]]
  ] as const) {
    it.effect(`a session that is starting or started, and not one that ${what}`, () =>
      Effect.gen(function* () {
        const probe = probedStore()
        yield* inLife(probe, append(sessionStarting("s1")))
        expect(yield* found(probe)).toEqual([session("r1")])
        yield* inLife(probe, append(started))
        expect(yield* found(probe)).toEqual([session("r1")])
        yield* inLife(probe, force(...drafts))
        expect(yield* found(probe)).toEqual([])
      })
    )
  }

  it.effect("a session that went over under the run that has it now", () =>
    Effect.gen(function* () {
      const probe = probedStore()
      const say = (runId: string, draft: EventDraft) =>
        Effect.flatMap(Journal, (journal) => journal.force(entry([draft], { runId })))
      yield* inLife(probe, Effect.all([say("r1", started), say("r1", runDetached("r2")), say("r2", runAttached("r1"))]))
      expect(yield* found(probe)).toEqual([session("r2")])
    })
  )

  it.effect("each of them in the commit of its event", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        yield* append(started, submitted(), asked("q1"))
        yield* force(draftOf("runtime_request.cancelled", { requestId: "q1" }), ended("Failed"), sessionCrashed)
        const tags = probe.commits.map((changes) => changes.map(({ _tag }) => _tag))
        const pairs = ["Event", "Record", "Event", "Record", "Event", "Request"]
        expect(tags.slice(-2)).toEqual([pairs, ["Event", "Request", "Event", "Record", "Event", "Record"]])
      })
    )
  })

  it.effect("nothing of a turn whose first event was left out", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      yield* inLife(
        probe,
        Effect.gen(function* () {
          const journal = yield* Journal
          yield* (yield* DurableJournal).peers.register("peer")
          const filled = append(...Array.from({ length: 40 }, () => draftOf("harness.ready", harness)))
          const filling = yield* Effect.forkChild(filled, { startImmediately: true })
          expect(yield* journal.append(entry([submitted()]), Latch.makeUnsafe(true))).toBe(1)
          filling.interruptUnsafe()
        }),
        { bytesMax: 12_000, reserveBytes: 6_000 }
      )
      expect(yield* found(probe)).toEqual([])
    })
  })
})

const harness = { driverKind: "fake", driverVersion: null, transport: "acp-stdio" } as const

describe("what a process left open", () => {
  it.effect("is ended by the next one, in order, and the one behind that finds nothing to do", () => {
    const probe = probedStore()
    const recover = Effect.gen(function* () {
      const journal = yield* Journal
      const left = recoveryOf(yield* recovered)
      for (const one of left) yield* journal.force({ ...one, bytes: 0 })
      return left.flatMap(({ drafts }) => drafts.map(({ eventType }) => eventType))
    })
    return Effect.gen(function* () {
      yield* inLife(probe, append(started, submitted(), asked("q1"), asked("q2"), submitted("t2")))
      expect(yield* inLife(probe, recover)).toEqual([
        "runtime_request.expired",
        "runtime_request.expired",
        "turn.failed",
        "turn.failed",
        "session.failed"
      ])
      const stored = eventsOf(probe.commits.flat()).map(({ json }) => JSON.parse(json))
      expect(stored.slice(-5)).toMatchObject([
        { runId: "r1", normalizedSessionId: "s1", turnId: "t1", payload: { requestId: "q1" } },
        { turnId: "t1", payload: { requestId: "q2" } },
        { turnId: "t1", payload: { reason: "runner_restarted" } },
        { turnId: "t2", payload: { reason: "runner_restarted" } },
        { sourceSeq: 10, payload: { code: "provider_process_lost" } }
      ])
      const commits = probe.commits.length
      expect(yield* inLife(probe, recover)).toEqual([])
      expect(yield* inLife(probe, recovered)).toMatchObject({ records: [], requests: [] })
      expect(probe.commits.length).toBe(commits)
    })
  })
})
