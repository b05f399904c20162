import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import type { CapabilitiesV2 } from "../../src/schema/prp/contract/capabilities.ts"
import { capabilitiesOf } from "../../src/schema/prp/capabilitiesOf.ts"
import { limits } from "../../src/schema/limits.ts"
import { offers } from "../../src/schema/prp/runDrafts.ts"
import type { FrameChannel } from "../../src/services/FrameChannel.ts"
import type { RunnerConnection } from "../../src/services/RunnerClient.ts"
import { DurableJournal } from "../../src/actors/durableJournal.ts"
import { probedStore, sized, started } from "./durableHost.ts"
import {
  acknowledgedBy,
  greeted,
  hello,
  inRunner,
  join,
  type Json,
  operator,
  playedRuns,
  plug,
  said,
  settle,
  takeJson,
  tenant
} from "./controlHost.ts"

const error = (code: string, payload: Json = {}) =>
  expect.objectContaining({ kind: "error", payload: expect.objectContaining({ code, ...payload }) })

const payloadIn = (frame: Json | undefined): Json => (frame ?? {})["payload"] as Json
const eventIn = (frame: Json | undefined): Json => payloadIn(frame)["event"] as Json

/** Number, run and number before of the next events. */
const takeEvents = Effect.fnUntraced(function* (peer: FrameChannel, count: number) {
  const seen: Array<readonly [number, string, number]> = []
  while (seen.length < count) {
    const frame = yield* takeJson(peer)
    expect(frame).toMatchObject({ kind: "event" })
    const event = eventIn(frame)
    seen.push([Number(event["sourceSeq"]), String(event["runId"]), Number(payloadIn(frame)["previousSourceSeq"])])
  }
  return seen
})

const capabilities: CapabilitiesV2 = capabilitiesOf("fake", {})

describe("a named peer", () => {
  it.effect("gets what it has not acknowledged again, as it was, and nothing else", () =>
    inRunner(
      Effect.gen(function* () {
        const first = yield* greeted()
        yield* said("r1", started("t1"), started("t2"), started("t3"))
        const texts: Array<string | undefined> = []
        for (const _ of [1, 2, 3]) texts.push(yield* first.peer.take)
        yield* first.peer.write(first.frame("ack", { ackedSourceSeq: 1 }))
        yield* first.peer.write(first.frame("ping", { nonce: "n" }))
        expect(yield* takeJson(first.peer)).toMatchObject({ kind: "pong" })
        yield* first.peer.close
        const second = yield* greeted()
        expect(second.welcome).toMatchObject({ payload: { afterSourceSeq: 1, producedSourceSeq: 3 } })
        const eventOf = (text: string | undefined) => JSON.parse(text ?? "").payload.event
        for (const text of texts.slice(1)) expect(eventOf(yield* second.peer.take)).toEqual(eventOf(text))
        yield* said("r1", started("t4"))
        expect(yield* takeEvents(second.peer, 1)).toEqual([[4, "r1", 3]])
      })
    )
  )

  it.effect("begins behind what it acknowledged, or behind its own number where that is later", () =>
    inRunner(
      Effect.gen(function* () {
        yield* said("r1", started("t1"), started("t2"), started("t3"))
        const first = yield* greeted()
        yield* takeEvents(first.peer, 3)
        yield* first.peer.write(first.frame("ack", { ackedSourceSeq: 2 }))
        yield* first.peer.write(first.frame("ping", { nonce: "n" }))
        expect(yield* takeJson(first.peer)).toMatchObject({ kind: "pong" })
        for (const [given, after] of [
          [1, 2],
          [2, 2],
          [3, 3]
        ]) {
          const { welcome } = yield* greeted(operator, { afterSourceSeq: given })
          expect(welcome).toMatchObject({ payload: { afterSourceSeq: after } })
        }
      })
    )
  )

  it.effect("cannot take an acknowledgement back, nor acknowledge what is not there", () =>
    inRunner(
      Effect.gen(function* () {
        yield* said("r1", started("t1"), started("t2"))
        for (const [acks, code] of [
          [[3], "ack_beyond_produced"],
          [[2, 1], "ack_backward"]
        ] as const) {
          const { frame, peer } = yield* greeted(operator, { name: code })
          yield* takeEvents(peer, 2)
          for (const ackedSourceSeq of acks) yield* peer.write(frame("ack", { ackedSourceSeq }))
          expect(yield* takeJson(peer)).toEqual(error(code))
        }
      })
    )
  )

  it.effect("of a company is refused beyond the bound of its peers, and no other is", () =>
    inRunner(
      Effect.gen(function* () {
        const helloAs = (name: string, company = "a") =>
          Effect.gen(function* () {
            const { peer } = yield* plug(tenant(company))
            yield* peer.write(hello({ name }))
            return yield* takeJson(peer)
          })
        for (let n = 0; n < limits.companyPeersMax; n++) {
          expect(yield* helloAs(`peer-${n}`)).toMatchObject({ kind: "welcome" })
        }
        expect(yield* helloAs("one-more")).toEqual(error("too_many_peers", { limit: limits.companyPeersMax }))
        expect(yield* helloAs("peer-0")).toMatchObject({ kind: "welcome" })
        expect(yield* helloAs("one-more", "b")).toMatchObject({ kind: "welcome" })
      })
    )
  )
})

describe("a tenant", () => {
  it.effect("gets the events of its runs only, and is not held to those of others", () =>
    inRunner(
      Effect.gen(function* () {
        const { frame, peer } = yield* greeted(tenant("a"))
        yield* said("other", started("t1"))
        yield* said("own", started("t2"))
        yield* said("other", started("t3"))
        yield* said("own", started("t4"))
        expect(yield* takeEvents(peer, 2)).toEqual([
          [2, "own", 0],
          [4, "own", 2]
        ])
        yield* said("other", started("t5"))
        yield* peer.write(frame("ack", { ackedSourceSeq: 4 }))
        yield* settle
        expect(yield* acknowledgedBy).toEqual({ "company/a/main": 5 })
      }),
      playedRuns({ own: "a", other: "b" })
    )
  )
})

describe("an observer", () => {
  const observing = { name: null }

  it.effect("gets what comes from now on, or from a number on", () =>
    inRunner(
      Effect.gen(function* () {
        yield* said("r1", started("t1"), started("t2"))
        const now = yield* greeted(operator, observing)
        const early = yield* greeted(operator, { ...observing, afterSourceSeq: 1 })
        yield* said("r1", started("t3"))
        expect(yield* takeEvents(now.peer, 1)).toEqual([[3, "r1", 2]])
        expect(yield* takeEvents(early.peer, 2)).toEqual([
          [2, "r1", 1],
          [3, "r1", 2]
        ])
        yield* now.peer.write(now.frame("ack", { ackedSourceSeq: 3 }))
        expect(yield* takeJson(now.peer)).toEqual(error("peer_unknown"))
      })
    )
  )

  /** Room for some thirty events of a thousand bytes. */
  const small = [playedRuns(), probedStore, { bytesMax: 40_000, reserveBytes: 4_000 }] as const
  const inSmall = <A, E, R>(effect: Parameters<typeof inRunner<A, E, R>>[0]) =>
    inRunner(effect, small[0], small[1](), small[2])

  /** Takes and acknowledges so many events. */
  const acknowledging = (main: RunnerConnection, through: number) =>
    Effect.gen(function* () {
      for (let last = 0; last < through;) {
        last = (yield* main.take).at(-1)?.sourceSeq ?? 0
        yield* main.acknowledge(last)
      }
      yield* main.ping
      yield* settle
    })

  it.effect("is told where the log begins or ends when its number is not in it", () =>
    inSmall(
      Effect.gen(function* () {
        const main = yield* join()
        yield* said("r1", ...sized(25, 1_000))
        yield* acknowledging(main, 25)
        yield* said("r1", ...sized(10, 1_000))
        const oldest = (yield* DurableJournal).prunedThrough() + 1
        expect(oldest).toBeGreaterThan(1)
        const refusals = [
          [oldest - 2, "cursor_expired", { afterSourceSeq: oldest - 2, oldestSourceSeq: oldest }],
          [36, "cursor_beyond_produced", { afterSourceSeq: 36, producedSourceSeq: 35 }]
        ] as const
        for (const [afterSourceSeq, code, facts] of refusals) {
          const { peer } = yield* plug(operator)
          yield* peer.write(hello({ ...observing, afterSourceSeq }))
          expect(yield* takeJson(peer)).toEqual(error(code, facts))
        }
        const { welcome } = yield* greeted(operator, { ...observing, afterSourceSeq: oldest - 1 })
        expect(welcome).toMatchObject({ kind: "welcome" })
      })
    )
  )

  it.effect("that takes nothing is waited for up to the bound, and told where it stood", () =>
    inRunner(
      Effect.gen(function* () {
        yield* said("r1", ...sized(8, 1_000))
        const { peer, serving } = yield* greeted(operator, { ...observing, afterSourceSeq: 0 }, { roomBytes: 2_000 })
        yield* settle
        yield* TestClock.adjust(limits.observerWriteMs - 1)
        expect(serving.pollUnsafe()).toBe(undefined)
        yield* TestClock.adjust(1)
        let last = yield* takeJson(peer)
        let seen = 0
        while (last?.["kind"] === "event") {
          seen++
          last = yield* takeJson(peer)
        }
        expect(seen).toBeLessThan(8)
        expect(last).toEqual(error("subscriber_overloaded", { oldestSourceSeq: 1 }))
      })
    )
  )

  it.effect("whose place the log has left behind is told so, and goes on from there", () =>
    inSmall(
      Effect.gen(function* () {
        const main = yield* join()
        yield* said("r1", ...sized(2, 1_000))
        const { peer } = yield* greeted(operator, { ...observing, afterSourceSeq: 0 }, { roomBytes: 1_500 })
        yield* settle
        for (let round = 1; round <= 4; round++) {
          yield* said("r1", ...sized(20, 1_000))
          yield* acknowledging(main, 2 + 20 * round)
        }
        let last = yield* takeJson(peer)
        let seen = 0
        while (last?.["kind"] === "event") {
          seen++
          last = yield* takeJson(peer)
        }
        const oldest = (yield* DurableJournal).prunedThrough() + 1
        expect(last).toEqual(error("subscriber_overloaded", { afterSourceSeq: seen, oldestSourceSeq: oldest }))
        const again = yield* greeted(operator, { ...observing, afterSourceSeq: oldest - 1 })
        expect(yield* takeEvents(again.peer, 1)).toEqual([[oldest, "r1", oldest - 1]])
      })
    )
  )
})

describe("an event of v2", () => {
  it.effect("is a placeholder at its number for a peer of v1, and itself for one of v2", () =>
    inRunner(
      Effect.gen(function* () {
        const old = yield* greeted(operator, { name: "old", protocolMax: 1 })
        const now = yield* greeted(operator, { name: "now" })
        yield* said("r1", ...offers(capabilities))
        expect(eventIn(yield* takeJson(old.peer))).toMatchObject({
          schema: "paperclip.prp.event.v1",
          eventType: "runner.diagnostic",
          sourceSeq: 1,
          payload: { code: "event_requires_v2" }
        })
        expect(eventIn(yield* takeJson(now.peer))).toMatchObject({
          schema: "paperclip.prp.event.v2",
          eventType: "session.capabilities.updated",
          sourceSeq: 1
        })
      })
    )
  )
})

describe("a journal that fails", () => {
  it.effect("ends every connection with its code, behind what was stored", () => {
    const probe = probedStore()
    return inRunner(
      Effect.gen(function* () {
        const { peer } = yield* greeted()
        yield* said("r1", started("t1"))
        probe.fails = true
        yield* said("r1", started("t2"))
        expect(yield* takeEvents(peer, 1)).toEqual([[1, "r1", 0]])
        expect(yield* takeJson(peer)).toEqual(error("store_failed"))
        expect((yield* DurableJournal).prunedThrough()).toBe(0)
      }),
      playedRuns(),
      probe
    )
  })
})
