import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import { DurableJournal } from "../../src/actors/durableJournal.ts"
import { Journal } from "../../src/actors/Journal.ts"
import type { FollowOptions } from "../../src/actors/journalReader.ts"
import {
  AcknowledgementRefused,
  CursorBeyond,
  CursorExpired,
  JournalFailed,
  TurnsRefused
} from "../../src/schema/errors.ts"
import { limits } from "../../src/schema/limits.ts"
import { draftOf, type Event, type EventDraft } from "../../src/schema/prp/event.ts"
import { turnTerminal } from "../../src/schema/prp/projection.ts"
import { offers } from "../../src/schema/prp/runDrafts.ts"
import { append, asked, delta, entry, eventsOf, force, inLife, probedStore, sized, started } from "./durableHost.ts"
import { capabilities } from "../schema/prp/runFeed.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** Long enough for whatever can go on without anybody else. */
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

const sequences = (events: ReadonlyArray<Event> | undefined) => events?.map((event) => event.sourceSeq)

const follow = (after: number, matches?: NonNullable<FollowOptions["matches"]>) =>
  Effect.flatMap(DurableJournal, (journal) => journal.follow(matches === undefined ? { after } : { after, matches }))

const peers = Effect.map(DurableJournal, (journal) => journal.peers)

const commands = Effect.map(DurableJournal, (journal) => journal.commands)

const failed = (turnId: string): EventDraft =>
  turnTerminal(turnId, { _tag: "Failed", reason: "crashed", detail: "", undeliveredEvents: 0 })

describe("an event", () => {
  it.effect("is delivered once it is stored, and not before", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        const subscription = yield* (yield* Journal).subscribe({})
        probe.gate.closeUnsafe()
        const taking = yield* fork(subscription.take)
        const appending = yield* fork(append(started()))
        yield* settle
        expect([taking.pollUnsafe(), appending.pollUnsafe()]).toEqual([undefined, undefined])
        expect((yield* Journal).sequence()).toBe(0)
        probe.gate.openUnsafe()
        expect(sequences(yield* Fiber.join(taking))).toEqual([1])
        expect(yield* Fiber.join(appending)).toBe(0)
        expect(eventsOf(probe.commits.flat()).map(({ seq }) => seq)).toEqual([1])
      })
    )
  })

  it.effect("that comes while a commit runs goes into the next one, with all others", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        probe.gate.closeUnsafe()
        const first = yield* fork(append(started()))
        yield* settle
        const others = yield* Effect.forEach([1, 2, 3], () => fork(append(started(), started())))
        const forced = yield* fork(force(started()))
        yield* settle
        probe.gate.openUnsafe()
        yield* Fiber.joinAll([first, ...others])
        yield* Fiber.join(forced)
        const counts = probe.commits.map((changes) => eventsOf(changes).length).filter((count) => count > 0)
        expect(counts).toEqual([1, 7])
      })
    )
  })

  it.effect("is stored as it goes over a wire: without what is for this process only", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        const subscription = yield* (yield* Journal).subscribe({})
        yield* append({ ...started(), debug: { native: "secret" } })
        const [event] = (yield* subscription.take) ?? []
        const [stored] = eventsOf(probe.commits.flat())
        expect(event?.debug).toEqual({ native: "secret" })
        expect(JSON.parse(stored?.json ?? "")).toEqual({ ...event, debug: undefined })
        expect(stored).toMatchObject({ seq: 1, priority: 1, runId: "r1", sessionId: "s1" })
        expect(stored?.bytes).toBe(Buffer.byteLength(stored?.json ?? ""))
        yield* (yield* Journal).force(entry([delta("grüße 😀"), delta("x", "ä")], { sessionId: "sitzung_ä" }))
        const [heard, last] = (yield* subscription.take) ?? []
        const [, first, second] = eventsOf(probe.commits.flat())
        expect([first?.json, second?.json]).toEqual([JSON.stringify(heard), JSON.stringify(last)])
        expect([first?.bytes, second?.bytes]).toEqual([first, second].map((one) => Buffer.byteLength(one?.json ?? "")))
      })
    )
  })

  it.effect("is stored in the envelope of its own version, whatever comes with it", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        const subscription = yield* (yield* Journal).subscribe({})
        const [updated, goal] = offers(capabilities)
        const mixed = [started(), updated!, delta("ä"), goal!, updated!, started()]
        const versions = [1, 2, 1, 2, 2, 1]
        for (const drafts of [mixed, mixed.toReversed()]) {
          probe.commits.length = 0
          yield* force(...drafts)
          const heard = (yield* subscription.take) ?? []
          const stored = eventsOf(probe.commits.flat())
          expect(stored.map(({ json }) => json)).toEqual(heard.map((event) => JSON.stringify(event)))
          expect(stored.map(({ bytes }) => bytes)).toEqual(stored.map(({ json }) => Buffer.byteLength(json)))
          expect(heard.map(({ schemaVersion }) => schemaVersion)).toEqual(
            drafts === mixed ? versions : versions.toReversed()
          )
        }
      })
    )
  })

  it.effect("takes a number of its own for each piece that is not joined, and one for those that are", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        const subscription = yield* (yield* Journal).subscribe({})
        yield* append(delta("a"), delta("b"), delta("c", "i2"), delta("d", "i2"), started())
        const events = yield* subscription.take
        expect(sequences(events)).toEqual([1, 2, 3])
        expect(events?.[0]?.payload).toEqual({ kind: "assistant_message", text: "ab" })
        expect(events?.[1]?.payload).toEqual({ kind: "assistant_message", text: "cd" })
      })
    )
  })

  it.effect("is one of at most so many in a commit", () => {
    const probe = probedStore()
    const max = limits.commitEventsMax
    return inLife(
      probe,
      Effect.gen(function* () {
        yield* append(...sized(max, 1))
        yield* append(...sized(max + 1, 1))
        const counts = probe.commits.map((changes) => eventsOf(changes).length).filter((count) => count > 0)
        expect(counts).toEqual([max, max, 1])
      })
    )
  })
})

describe("a restart", () => {
  it.effect("goes on with the same source and the next number", () => {
    const probe = probedStore()
    const life = Effect.gen(function* () {
      const subscription = yield* (yield* Journal).subscribe({})
      yield* append(started(), started())
      const events = (yield* subscription.take) ?? []
      return events.map(({ sourceEventId, sourceInstanceId, sourceSeq }) => ({
        sourceEventId,
        sourceInstanceId,
        sourceSeq
      }))
    })
    return Effect.gen(function* () {
      const events = [...(yield* inLife(probe, life)), ...(yield* inLife(probe, life))]
      expect(events.map(({ sourceSeq }) => sourceSeq)).toEqual([1, 2, 3, 4])
      expect(new Set(events.map(({ sourceInstanceId }) => sourceInstanceId)).size).toBe(1)
      expect(new Set(events.map(({ sourceEventId }) => sourceEventId)).size).toBe(4)
    })
  })

  it.effect("finds the open requests, each with the event that made it, and not those that have ended", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      yield* inLife(
        probe,
        Effect.gen(function* () {
          yield* append(asked("q1"), asked("q2"))
          yield* force(draftOf("runtime_request.resolved", { requestId: "q1" }))
        })
      )
      const { requests } = yield* inLife(
        probe,
        Effect.map(DurableJournal, (journal) => journal.recovered)
      )
      expect(requests).toMatchObject([{ requestId: "q2", created: { sourceSeq: 2, turnId: "t1" } }])
      yield* inLife(probe, force(draftOf("runtime_request.expired", { requestId: "q2" })))
      const later = yield* inLife(
        probe,
        Effect.map(DurableJournal, (journal) => journal.recovered)
      )
      expect(later.requests).toEqual([])
    })
  })

  it.effect("finds each request in the commit of its event", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        yield* append(started(), asked("q1"))
        yield* force(draftOf("runtime_request.cancelled", { requestId: "q1" }))
        const tags = probe.commits.map((changes) => changes.map(({ _tag }) => _tag))
        expect(tags.slice(-2)).toEqual([
          ["Event", "Event", "Request"],
          ["Event", "Request"]
        ])
      })
    )
  })

  it.effect("finds records, alone or with the events that they came with", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      yield* inLife(
        probe,
        Effect.gen(function* () {
          const journal = yield* Journal
          yield* (yield* DurableJournal).record([{ kind: "run", id: "r1", value: "open" }])
          yield* journal.force(entry([started()], { records: [{ kind: "turn", id: "t1", value: 1 }] }))
          yield* journal.append(
            entry([], { records: [{ kind: "session", id: "s1", value: [] }] }),
            Latch.makeUnsafe(false)
          )
          expect(probe.commits.at(-2)?.map(({ _tag }) => _tag)).toEqual(["Event", "Record"])
        })
      )
      const { records } = yield* inLife(
        probe,
        Effect.map(DurableJournal, (journal) => journal.recovered)
      )
      expect(records.map(({ kind }) => kind).toSorted()).toEqual(["run", "session", "turn"])
    })
  })
})

describe("a reader of the log", () => {
  it.effect("gets what is stored and then what comes, without a gap or a repetition", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      yield* inLife(probe, append(...sized(5, 10)))
      yield* inLife(
        probe,
        Effect.gen(function* () {
          const reader = yield* follow(2)
          expect((yield* reader.take).map(({ seq }) => seq)).toEqual([3, 4, 5])
          const waiting = yield* fork(reader.take)
          yield* settle
          expect(waiting.pollUnsafe()).toBeUndefined()
          yield* append(...sized(2, 10))
          expect((yield* Fiber.join(waiting)).map(({ seq }) => seq)).toEqual([6, 7])
          const interrupted = yield* fork(reader.take)
          yield* settle
          yield* Fiber.interrupt(interrupted)
          yield* append(started())
          expect((yield* reader.take).map(({ seq }) => seq)).toEqual([8])
        })
      )
    })
  })

  it.effect("gets the texts that are stored", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        yield* append(started())
        const [event] = yield* (yield* follow(0)).take
        expect(event).toEqual({ ...eventsOf(probe.commits.flat())[0], _tag: undefined })
      })
    )
  })

  it.effect("gets at most so many events and bytes at once, and one larger event alone", () => {
    const [count, bytes] = [limits.journalReadEventsMax, limits.journalReadBytesMax]
    return inLife(
      probedStore(),
      Effect.gen(function* () {
        yield* append(...sized(count + 1, 1))
        const reader = yield* follow(0)
        expect((yield* reader.take).length).toBe(count)
        expect((yield* reader.take).length).toBe(1)
        yield* append(...sized(2, bytes / 2 - 1_000))
        expect((yield* reader.take).length).toBe(2)
        yield* append(...sized(2, bytes / 2 + 1))
        expect((yield* reader.take).length).toBe(1)
        yield* append(...sized(1, bytes + 1))
        expect((yield* reader.take).length).toBe(1)
        expect((yield* reader.take).length).toBe(1)
      })
    )
  })

  it.effect("of some events waits for them", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        const journal = yield* Journal
        const places = [{ runId: "r1" }, { runId: "r2" }, { runId: "r1", sessionId: "s2" }]
        yield* Effect.forEach(places, (place) => journal.force(entry([started()], place)))
        expect((yield* (yield* follow(0, ({ runId }) => runId === "r1")).take).map(({ seq }) => seq)).toEqual([1, 3])
        expect((yield* (yield* follow(0, ({ sessionId }) => sessionId === "s2")).take).map(({ seq }) => seq)).toEqual([
          3
        ])
        const reader = yield* follow(0, ({ runId }) => runId === "r3")
        const waiting = yield* fork(reader.take)
        yield* force(started())
        yield* journal.force(entry([started()], { runId: "r3" }))
        expect((yield* Fiber.join(waiting)).map(({ seq }) => seq)).toEqual([5])
      })
    )
  )

  it.effect("of few events lets others run while it looks for them", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        const [batches, size] = [5, limits.journalReadEventsMax]
        yield* append(...sized(batches * size, 1))
        yield* (yield* Journal).force(entry([started()], { runId: "r2" }))
        const reader = yield* follow(0, ({ runId }) => runId === "r2")
        let turns = 0
        const other = Effect.forever(
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => turns++)
          ),
          { disableYield: true }
        )
        const running = yield* fork(other)
        expect((yield* reader.take).map(({ seq }) => seq)).toEqual([batches * size + 1])
        expect(turns).toBeGreaterThanOrEqual(batches)
        yield* Fiber.interrupt(running)
      })
    )
  )

  it.effect("is refused a cursor beyond what there is", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        yield* append(started())
        expect(yield* Effect.exit(Effect.asVoid(follow(1)))).toEqual(Exit.void)
        expect(yield* Effect.exit(follow(2))).toEqual(Exit.fail(new CursorBeyond({ after: 2, produced: 1 })))
      })
    )
  )

  it.effect("that stood still for too long is told where to go on", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        yield* append(started())
        const slow = yield* follow(0)
        yield* append(...sized(40, 1_000))
        const exit = yield* Effect.exit(slow.take)
        const refused = exit._tag === "Failure" ? exit.cause.reasons[0] : undefined
        const error = refused?._tag === "Fail" ? refused.error : undefined
        expect(error).toBeInstanceOf(CursorExpired)
        const oldest = error instanceof CursorExpired ? error.oldest : Number.NaN
        expect(oldest).toBeGreaterThan(2)
        expect((yield* DurableJournal).prunedThrough()).toBe(oldest - 1)
        expect(yield* Effect.exit(follow(0))).toEqual(Exit.fail(new CursorExpired({ after: 0, oldest })))
        expect((yield* (yield* follow(oldest - 1)).take)[0]?.seq).toBe(oldest)
      }),
      { bytesMax: 20_000, reserveBytes: 2_000 }
    )
  )
})

describe("a peer", () => {
  it.effect("moves forward, not back and not beyond what was produced", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        const { acknowledge, register } = yield* peers
        const refused = (code: AcknowledgementRefused["code"], through: number, acknowledged: number) =>
          Exit.fail(new AcknowledgementRefused({ code, peer: "a", through, acknowledged, produced: 3 }))
        yield* append(...sized(3, 1))
        expect(yield* Effect.exit(acknowledge("a", 1))).toEqual(refused("peer_unknown", 1, 0))
        expect(yield* register("a")).toBe(0)
        yield* acknowledge("a", 2)
        yield* acknowledge("a", 2)
        expect(yield* Effect.exit(acknowledge("a", 1))).toEqual(refused("ack_backward", 1, 2))
        expect(yield* Effect.exit(acknowledge("a", 4))).toEqual(refused("ack_beyond_produced", 4, 2))
        yield* acknowledge("a", 3)
        expect(yield* register("a")).toBe(3)
      })
    )
  )

  it.effect("is known after a restart, until it is forgotten", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      yield* inLife(
        probe,
        Effect.gen(function* () {
          const { acknowledge, register } = yield* peers
          yield* register("a")
          yield* append(...sized(3, 1))
          yield* acknowledge("a", 2)
        })
      )
      const acknowledged = Effect.map(peers, (known) => [...known.acknowledged()])
      expect(yield* inLife(probe, acknowledged)).toEqual([["a", 2]])
      yield* inLife(
        probe,
        Effect.flatMap(peers, (known) => known.forget("a"))
      )
      expect(yield* inLife(probe, acknowledged)).toEqual([])
    })
  })

  it.effect("is one of at most so many", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        const { register } = yield* peers
        yield* Effect.forEach(Array(limits.journalPeersMax).keys(), (n) => register(`p${n}`))
        expect(yield* Effect.exit(register("one more"))).toEqual(
          Exit.fail(expect.objectContaining({ code: "too_many_peers" }))
        )
        expect(yield* register("p0")).toBe(0)
      })
    )
  )

  it.effect("that registers later begins with the oldest event that is there", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        yield* append(...sized(40, 1_000))
        const first = yield* (yield* peers).register("late")
        expect(first).toBeGreaterThan(0)
        expect((yield* (yield* follow(first)).take)[0]?.seq).toBe(first + 1)
      }),
      { bytesMax: 20_000, reserveBytes: 2_000 }
    )
  )
})

/** Room for some ten events beside the reserve of some five. */
const small = { bytesMax: 20_000, reserveBytes: 7_000 }

/** Appends one at a time until one has to wait. */
const fill = Effect.gen(function* () {
  for (let count = 0; ; count++) {
    const appending = yield* fork(append(...sized(1, 1_000)))
    yield* settle
    if (appending.pollUnsafe() === undefined) return { appending, count }
    if (count > 100) throw new Error("there is always room")
  }
})

describe("a log that is full for a peer that does not acknowledge", () => {
  it.effect("makes appends wait and refuses turns, says so once, and goes on when there is room", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        const journal = yield* Journal
        const { acknowledge, register } = yield* peers
        yield* register("slow")
        const { appending, count } = yield* fill
        expect(count).toBeGreaterThan(8)
        const other = yield* fork(append(started()))
        yield* settle
        expect(other.pollUnsafe()).toBeUndefined()
        expect(yield* Effect.exit(journal.admitsTurns)).toEqual(Exit.fail(new TurnsRefused({ reason: "backpressure" })))
        const stored = eventsOf(probe.commits.flat())
        expect(stored.length).toBe(count + 1)
        expect(stored.at(-1)).toMatchObject({ priority: 0, runId: "r1" })
        expect(JSON.parse(stored.at(-1)?.json ?? "")).toMatchObject({
          eventType: "runner.backpressure",
          payload: { state: "engaged", limitBytes: small.bytesMax }
        })
        yield* acknowledge("slow", count)
        expect(yield* Fiber.join(appending)).toBe(0)
        expect(yield* Fiber.join(other)).toBe(0)
        yield* journal.admitsTurns
        const events = (yield* (yield* follow(count + 1)).take).map(({ json }) => JSON.parse(json).eventType)
        expect(events).toEqual(["item.delta", "turn.started", "runner.backpressure"])
      }),
      small
    )
  })

  it.effect("takes what is forced, in its reserve, and is over when that is full", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        const journal = yield* Journal
        const subscription = yield* journal.subscribe({})
        yield* (yield* peers).register("slow")
        const { appending } = yield* fill
        yield* force(started())
        yield* force(failed("t1"))
        const before = journal.sequence()
        const reader = yield* follow(0)
        const filling = Effect.forEach(Array(12).keys(), () => force(...sized(1, 1_000)))
        yield* filling
        expect(journal.sequence()).toBeGreaterThan(before + 3)
        expect(journal.sequence()).toBeLessThan(before + 9)
        const over = Exit.fail(new TurnsRefused({ reason: "p0_storage_exhausted" }))
        expect(yield* Effect.exit(journal.admitsTurns)).toEqual(over)
        const exit = yield* Fiber.await(appending)
        expect(Exit.isFailure(exit) && Exit.hasDies(exit)).toBe(true)
        // Nothing that was stored is lost, and what was only told is of another source.
        const told = (yield* subscription.take) ?? []
        const sources = Map.groupBy(told, (event) => event.sourceInstanceId)
        const { sourceInstanceId } = yield* DurableJournal
        expect(sources.get(sourceInstanceId)?.length).toBe(journal.sequence())
        expect(sources.size).toBe(2)
        let read = 0
        while (read < journal.sequence()) read += (yield* reader.take).length
        expect(yield* Effect.exit(reader.take)).toEqual(
          Exit.fail(expect.objectContaining({ _tag: "JournalFailed", code: "p0_storage_exhausted" }))
        )
      }),
      small
    )
  )

  it.effect("leaves out what drains, counts it, and gives it no number", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        const journal = yield* Journal
        yield* (yield* peers).register("slow")
        const { appending } = yield* fill
        const draining = Latch.makeUnsafe(false)
        const later = yield* fork(journal.append(entry(sized(4, 1_000)), draining))
        yield* settle
        expect(later.pollUnsafe()).toBeUndefined()
        const before = journal.sequence()
        draining.openUnsafe()
        expect(yield* Fiber.join(later)).toBe(4)
        expect(yield* journal.append(entry(sized(3, 1_000)), draining)).toBe(3)
        expect(journal.sequence()).toBe(before)
        yield* force(failed("t1"))
        expect(journal.sequence()).toBe(before + 1)
        yield* Fiber.interrupt(appending)
        yield* settle
        expect(journal.sequence()).toBe(before + 1)
      }),
      small
    )
  )

  it.effect("is as full after a restart", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      const life = Effect.gen(function* () {
        yield* (yield* peers).register("slow")
        const { appending, count } = yield* fill
        yield* Fiber.interrupt(appending)
        return count
      })
      expect(yield* inLife(probe, life, small)).toBeGreaterThan(8)
      expect(yield* inLife(probe, life, small)).toBe(0)
    })
  })

  it.effect("lets the oldest go when nobody acknowledges at all", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        for (let n = 0; n < 50; n++) yield* append(...sized(1, 1_000))
        const { bytes, lastSeq, prunedThrough } = yield* Effect.orDie(probe.store.load)
        expect(lastSeq).toBe(50)
        expect(prunedThrough).toBeGreaterThan(30)
        expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(small.bytesMax - small.reserveBytes)
        yield* (yield* Journal).admitsTurns
      }),
      small
    )
  })

  it.effect("is by default as large as the bounds say", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        yield* (yield* peers).register("slow")
        const size = limits.deltaCharactersMax
        for (;;) {
          const appending = yield* fork(append(...sized(1, size)))
          yield* settle
          if (appending.pollUnsafe() === undefined) break
        }
        const { bytes } = yield* Effect.orDie(probe.store.load)
        const retained = bytes.reduce((sum, one) => sum + one, 0)
        const bound = limits.journalBytesMax - limits.journalReserveBytes
        expect(retained).toBeLessThanOrEqual(bound + 1_000)
        expect(retained + size + 1_000).toBeGreaterThan(bound)
      })
    )
  })

  it.effect("takes one event that is larger than all of it, alone", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        yield* append(...sized(1, 50_000))
        yield* append(...sized(1, 50_000))
        expect((yield* Journal).sequence()).toBe(2)
      }),
      small
    )
  )
})

describe("a store that fails", () => {
  it.effect("ends an append, tells what is forced as events of another source, and keeps nothing of them", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      yield* inLife(
        probe,
        Effect.gen(function* () {
          const journal = yield* Journal
          const subscription = yield* journal.subscribe({})
          yield* append(started())
          const reader = yield* follow(0)
          const stored = yield* subscription.take
          probe.fails = true
          const lost = new JournalFailed({ code: "store_failed", reason: "planted" })
          const appending = yield* fork(append(delta("lost")))
          yield* force(failed("t1"))
          expect(yield* Fiber.await(appending)).toEqual(Exit.die(lost))
          const [told] = (yield* subscription.take) ?? []
          expect(told).toMatchObject({ eventType: "turn.failed", sourceSeq: 1 })
          expect(told?.sourceInstanceId).not.toBe(stored?.[0]?.sourceInstanceId)
          // Nothing works again by itself.
          probe.fails = false
          expect(yield* Effect.exit(append(started()))).toEqual(Exit.die(lost))
          yield* force(failed("t2"))
          expect((yield* subscription.take)?.[0]).toMatchObject({ sourceSeq: 2, turnId: "t2" })
          expect(journal.sequence()).toBe(1)
          expect(yield* Effect.exit(journal.admitsTurns)).toEqual(
            Exit.fail(new TurnsRefused({ reason: "store_failed" }))
          )
          const { register } = yield* peers
          expect(yield* Effect.exit(register("a"))).toEqual(Exit.fail(lost))
          expect((yield* reader.take).map(({ seq }) => seq)).toEqual([1])
          expect(yield* Effect.exit(reader.take)).toEqual(Exit.fail(lost))
        })
      )
      yield* inLife(probe, append(started()))
      expect((yield* Effect.orDie(probe.store.load)).lastSeq).toBe(2)
    })
  })

  it.effect("that dies has failed", () => {
    const probe = probedStore()
    const dying = { ...probe, store: { ...probe.store, commit: () => Effect.die("a bug") } }
    return Effect.gen(function* () {
      yield* inLife(probe, append(started()))
      yield* inLife(
        dying,
        Effect.gen(function* () {
          const exit = yield* Effect.exit(append(started()))
          expect(exit).toEqual(Exit.die(new JournalFailed({ code: "store_failed", reason: "the store died" })))
        })
      )
    })
  })

  it.effect("makes a reader that waits hear of it", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        const waiting = yield* fork(Effect.flatMap(follow(0), (reader) => reader.take))
        yield* settle
        probe.fails = true
        yield* force(started())
        expect(yield* Fiber.await(waiting)).toEqual(Exit.fail(expect.objectContaining({ code: "store_failed" })))
      })
    )
  })
})

describe("a command", () => {
  const command = (controllerSeq: number, more = {}) => ({
    commandId: `c${controllerSeq}`,
    controllerSeq,
    type: "turn.start",
    ...more
  })

  it.effect("is stored as pending before it is carried out, and its outcome once", () => {
    const probe = probedStore()
    return inLife(
      probe,
      Effect.gen(function* () {
        const { admit, settle: outcome } = yield* commands
        expect(yield* admit("x", command(1))).toMatchObject({ _tag: "Execute" })
        expect(probe.commits.at(-1)).toMatchObject([{ _tag: "Command", stream: "x", entry: { status: "pending" } }])
        expect(yield* admit("x", command(1))).toMatchObject({ _tag: "Replay", entry: { status: "pending" } })
        expect(yield* outcome("x", "c1", { status: "completed", result: { ok: 1 } })).toMatchObject({
          status: "completed"
        })
        expect(probe.commits.at(-1)).toMatchObject([{ entry: { status: "completed", result: { ok: 1 } } }])
        expect(yield* admit("x", command(1))).toMatchObject({ entry: { status: "completed", result: { ok: 1 } } })
        expect(yield* Effect.exit(outcome("x", "c1", { status: "failed", result: null }))).toEqual(
          Exit.fail(expect.objectContaining({ code: "command_not_pending" }))
        )
        expect(yield* Effect.exit(admit("x", command(1, { payload: 2 })))).toEqual(
          Exit.fail(expect.objectContaining({ code: "command_conflict" }))
        )
        expect(yield* Effect.exit(admit("x", command(3)))).toEqual(
          Exit.fail(expect.objectContaining({ code: "controller_sequence_gap" }))
        )
        expect(yield* admit("y", command(1))).toMatchObject({ _tag: "Execute" })
      })
    )
  })

  it.effect("that comes twice at once is carried out once", () =>
    inLife(
      probedStore(),
      Effect.gen(function* () {
        const { admit } = yield* commands
        const tags = yield* Effect.all([admit("x", command(1)), admit("x", command(1))], { concurrency: 2 })
        expect(tags.map(({ _tag }) => _tag)).toEqual(["Execute", "Replay"])
      })
    )
  )

  it.effect("that was pending when its process ended is indeterminate, and stays so", () => {
    const probe = probedStore()
    return Effect.gen(function* () {
      yield* inLife(
        probe,
        Effect.gen(function* () {
          const { admit, settle: outcome } = yield* commands
          yield* admit("x", command(1))
          yield* outcome("x", "c1", { status: "completed", result: 1 })
          yield* admit("x", command(2))
        })
      )
      const life = Effect.gen(function* () {
        const journal = yield* DurableJournal
        return {
          found: journal.recovered.indeterminate.map(({ entry: { commandId }, stream }) => `${stream} ${commandId}`),
          again: [yield* journal.commands.admit("x", command(1)), yield* journal.commands.admit("x", command(2))]
        }
      })
      const expected = [
        { _tag: "Replay", entry: { status: "completed", result: 1 } },
        { _tag: "Replay", entry: { status: "indeterminate" } }
      ]
      expect(yield* inLife(probe, life)).toMatchObject({ found: ["x c2"], again: expected })
      expect(yield* inLife(probe, life)).toMatchObject({ found: [], again: expected })
    })
  })
})
