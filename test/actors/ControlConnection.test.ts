import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { limits } from "../../src/schema/limits.ts"
import { started } from "./durableHost.ts"
import {
  fork,
  greeted,
  hello,
  inRunner,
  join,
  type Json,
  pendingAnswer,
  playedRuns,
  plug,
  said,
  settle,
  statusOf,
  takeJson,
  tenant
} from "./controlHost.ts"

/** What the runner says last to these frames, and that nothing comes behind it. */
const lastWord = (frames: ReadonlyArray<string>, ...about: Parameters<typeof plug>) =>
  Effect.gen(function* () {
    const { peer, serving } = yield* plug(...about)
    yield* Effect.forEach(frames, (frame) => peer.write(frame))
    const last = yield* takeJson(peer)
    expect(yield* peer.take).toBe(undefined)
    yield* Fiber.join(serving)
    return last
  })

/** The same, behind the welcome. */
const lastWordTo = (
  frames: (frame: (kind: string, payload: unknown, head?: Json) => string) => ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const { frame, peer, serving } = yield* greeted()
    yield* Effect.forEach(frames(frame), (text) => peer.write(text))
    const last = yield* takeJson(peer)
    expect(yield* peer.take).toBe(undefined)
    yield* Fiber.join(serving)
    return last
  })

const error = (code: string, payload: Json = {}) =>
  expect.objectContaining({ kind: "error", payload: expect.objectContaining({ code, ...payload }) })

const command = (about: Json = {}): Json => ({
  command: { commandId: "c1", controllerSeq: 1, type: "session.snapshot", ...about }
})

describe("a hello", () => {
  it.effect("is answered with who is there, what it may see, and where events begin", () =>
    inRunner(
      Effect.gen(function* () {
        const { welcome } = yield* greeted()
        expect(welcome).toMatchObject({
          protocol: "paperclip.runner",
          version: 2,
          kind: "welcome",
          runnerInstanceId: expect.stringMatching(/^runner_/),
          connectionId: expect.stringMatching(/^connection_/),
          payload: {
            selectedVersion: 2,
            runnerState: "ready",
            authority: { _tag: "Operator" },
            afterSourceSeq: 0,
            producedSourceSeq: 0,
            runs: [],
            runsOmitted: 0
          }
        })
      })
    )
  )

  it.effect("of a peer of v1 is answered in v1", () =>
    inRunner(
      Effect.gen(function* () {
        const { peer } = yield* plug()
        yield* peer.write(hello({ protocolMax: 1 }, { version: 1 }))
        expect(yield* takeJson(peer)).toMatchObject({ version: 1, payload: { selectedVersion: 1 } })
      })
    )
  )

  it.effect("that has no version in common is refused", () =>
    inRunner(
      Effect.gen(function* () {
        const last = yield* lastWord([hello({ protocolMin: 3, protocolMax: 4 })])
        expect(last).toEqual(error("versions_disjoint", { protocolMin: 1, protocolMax: 2 }))
      })
    )
  )

  it.effect("for another runner is refused, for this one it is not", () =>
    inRunner(
      Effect.gen(function* () {
        const { welcome } = yield* greeted()
        const runnerInstanceId = welcome?.["runnerInstanceId"]
        expect(yield* lastWord([hello({}, { runnerInstanceId: "runner_other" })])).toEqual(
          error("runner_instance_mismatch", { runnerInstanceId })
        )
        const { peer } = yield* plug()
        yield* peer.write(hello({}, { runnerInstanceId }))
        expect(yield* takeJson(peer)).toMatchObject({ kind: "welcome" })
      })
    )
  )

  it.effect("must come in its time", () =>
    inRunner(
      Effect.gen(function* () {
        const { peer, serving } = yield* plug()
        yield* TestClock.adjust(limits.helloMs - 1)
        expect(serving.pollUnsafe()).toBe(undefined)
        yield* TestClock.adjust(1)
        expect(yield* takeJson(peer)).toEqual(error("hello_timeout"))
        expect(yield* peer.take).toBe(undefined)
      })
    )
  )

  it.effect("comes first, and once", () =>
    inRunner(
      Effect.gen(function* () {
        const ping = JSON.stringify({ ...JSON.parse(hello()), kind: "ping", payload: { nonce: "n" } })
        expect(yield* lastWord([ping])).toEqual(error("unexpected_frame", { path: "/kind" }))
        expect(yield* lastWordTo((frame) => [frame("auth_hello", JSON.parse(hello()).payload)])).toEqual(
          error("unexpected_frame")
        )
      })
    )
  )
})

describe("the welcome", () => {
  const manyRuns = (count: number) => Array.from({ length: count }, (_, n) => statusOf(`r${n}`))

  const shownTo = (statuses: ReturnType<typeof manyRuns>, authority: Parameters<typeof greeted>[0]) => {
    const played = playedRuns(Object.fromEntries(statuses.map(({ companyId, runId }) => [runId, companyId])))
    played.statuses = statuses
    return inRunner(
      Effect.map(greeted(authority), ({ welcome }) => welcome?.["payload"]),
      played
    )
  }

  it.effect("shows runs that have not ended, of the tenant only", () =>
    Effect.gen(function* () {
      const statuses = [
        statusOf("r1", { companyId: "a" }),
        statusOf("r2", { companyId: "b" }),
        statusOf("r3", { companyId: "a", runState: "terminal" }),
        statusOf("r4", { companyId: "a" }),
        statusOf("r5")
      ]
      const runsOf = (payload: unknown) =>
        (payload as { runs: ReadonlyArray<{ runId: string }> }).runs.map(({ runId }) => runId)
      expect(runsOf(yield* shownTo(statuses, { _tag: "Operator" }))).toEqual(["r1", "r2", "r4", "r5"])
      const toTenant = yield* shownTo(statuses, tenant("a"))
      expect(runsOf(toTenant)).toEqual(["r1", "r4"])
      expect(toTenant).toMatchObject({ runsOmitted: 0 })
      expect(runsOf(yield* shownTo(statuses, tenant("a", ["r4"])))).toEqual(["r4"])
    })
  )

  it.effect("shows the newest, up to the bound, and counts the others", () =>
    Effect.gen(function* () {
      const [all, more] = [manyRuns(limits.welcomeRunsMax), manyRuns(limits.welcomeRunsMax + 1)]
      expect(yield* shownTo(all, { _tag: "Operator" })).toMatchObject({ runsOmitted: 0, runs: all })
      expect(yield* shownTo(more, { _tag: "Operator" })).toMatchObject({ runsOmitted: 1, runs: more.slice(1) })
    })
  )

  it.effect("is bounded in size, too", () =>
    Effect.gen(function* () {
      const base = JSON.stringify(statusOf("r1", { cwd: "" })).length
      const half = (bytes: number) => "x".repeat(bytes / 2 - base)
      const at = [
        statusOf("r1", { cwd: half(limits.welcomeRunsBytesMax) }),
        statusOf("r2", { cwd: half(limits.welcomeRunsBytesMax) })
      ]
      expect(yield* shownTo(at, { _tag: "Operator" })).toMatchObject({ runsOmitted: 0 })
      const past = [statusOf("r1", { cwd: `${at[0]!.cwd}x` }), at[1]!]
      expect(yield* shownTo(past, { _tag: "Operator" })).toMatchObject({ runsOmitted: 1, runs: [{ runId: "r2" }] })
    })
  )

  it.effect("shows the insides to an operator who asks, and to nobody else", () =>
    inRunner(
      Effect.gen(function* () {
        const inspect = Effect.succeed({ tree: ["a"], processes: [] })
        const shown = (authority: Parameters<typeof greeted>[0], payload: Json) =>
          Effect.map(greeted(authority, payload, { inspect }), ({ welcome }) =>
            JSON.stringify(welcome).includes("tree")
          )
        expect(yield* shown({ _tag: "Operator" }, { inspect: true })).toBe(true)
        expect(yield* shown({ _tag: "Operator" }, {})).toBe(false)
        expect(yield* shown(tenant("a"), { inspect: true })).toBe(false)
      })
    )
  )
})

describe("a frame", () => {
  it.effect("that cannot be read ends the connection with the place that is wrong", () =>
    inRunner(
      Effect.gen(function* () {
        expect(yield* lastWord(["{"])).toEqual(error("invalid_json", { path: "" }))
        expect(yield* lastWord(["[]"])).toEqual(error("schema_validation", { path: "" }))
        expect(yield* lastWord([hello({}, { kind: "secret_kind" })])).toEqual(
          error("schema_validation", { path: "/kind" })
        )
        expect(yield* lastWord([hello({}, { protocol: "other" })])).toEqual(
          error("schema_validation", { path: "/protocol" })
        )
        expect(yield* lastWord([hello({ name: "no stable id" })])).toEqual(
          error("schema_validation", { path: "/payload/name" })
        )
        expect(yield* lastWord(["[".repeat(5000)])).toEqual(error("invalid_json"))
        expect(yield* lastWordTo((frame) => ["{}", frame("ping", { nonce: "n" })])).toEqual(
          error("schema_validation", { path: "/kind" })
        )
        expect(yield* lastWordTo((frame) => [frame("ack", { ackedSourceSeq: -1 })])).toEqual(
          error("schema_validation", { path: "/payload/ackedSourceSeq" })
        )
        expect(yield* lastWordTo((frame) => [frame("welcome", {})])).toEqual(
          error("schema_validation", { path: "/kind" })
        )
      })
    )
  )

  it.effect("that cannot be read is not repeated", () =>
    inRunner(
      Effect.gen(function* () {
        const words = [
          yield* lastWord([hello({ name: "hush hush" })]),
          yield* lastWord([hello({}, { kind: "hush" })]),
          yield* lastWord([`{"hush":`]),
          yield* lastWordTo((frame) => [frame("command", { hush: true })])
        ]
        expect(JSON.stringify(words)).not.toContain("hush")
      })
    )
  )

  it.effect("at the bound is read; one past it ends the connection", () => {
    const played = playedRuns()
    return inRunner(
      Effect.gen(function* () {
        const padded = (frame: (kind: string, payload: unknown) => string, bytes: number) => {
          const bare = frame("ping", { nonce: "" })
          return frame("ping", { nonce: "x".repeat(bytes - bare.length) })
        }
        const { frame, peer } = yield* greeted()
        yield* fork(peer.write(padded(frame, limits.transportFrameBytesMax)))
        expect(yield* takeJson(peer)).toMatchObject({ kind: "pong" })
        yield* fork(Effect.ignore(peer.write(padded(frame, limits.transportFrameBytesMax + 1))))
        expect(yield* takeJson(peer)).toEqual(error("frame_too_large", { limitBytes: limits.transportFrameBytesMax }))
        expect(yield* peer.take).toBe(undefined)
      }),
      played
    )
  })

  it.effect("of bytes that are no text ends the connection", () =>
    inRunner(
      Effect.gen(function* () {
        const { peer, wire } = yield* plug()
        yield* wire.write(Uint8Array.of(0xff, 0x0a))
        expect(yield* takeJson(peer)).toEqual(error("frame_not_text"))
      })
    )
  )

  it.effect("of another runner, connection or version ends the connection", () =>
    inRunner(
      Effect.gen(function* () {
        for (const head of [
          { runnerInstanceId: "runner_other" },
          { runnerInstanceId: null },
          { connectionId: "connection_other" },
          { connectionId: null },
          { version: 1 }
        ]) {
          const [field] = Object.keys(head)
          expect(yield* lastWordTo((frame) => [frame("ping", { nonce: "n" }, head)])).toEqual(
            error("binding_mismatch", { path: `/${field}` })
          )
        }
      })
    )
  )

  it.effect("of one connection touches no other", () =>
    inRunner(
      Effect.gen(function* () {
        const other = yield* join()
        yield* lastWord(["{"])
        yield* other.ping
      })
    )
  )

  it.effect("with more in it than is known is taken", () =>
    inRunner(
      Effect.gen(function* () {
        const { frame, peer } = yield* greeted(undefined, { later: 1 })
        yield* peer.write(frame("ping", { nonce: "n", later: 1 }, { later: 1, environmentLeaseId: "lease_1" }))
        expect(yield* takeJson(peer)).toMatchObject({ kind: "pong", payload: { nonce: "n" } })
      })
    )
  )
})

describe("a command", () => {
  it.effect("goes to the runs with the authority, the run and the version, and is answered", () => {
    const played = playedRuns()
    played.answer = () => Effect.succeed({ result: { status: "closed" } })
    return inRunner(
      Effect.gen(function* () {
        const { frame, peer } = yield* greeted(tenant("a"), { protocolMax: 1 }, {})
        yield* peer.write(frame("command", command(), { runId: "r1", version: 1 }))
        expect(yield* takeJson(peer)).toMatchObject({
          kind: "command_result",
          runId: "r1",
          payload: { commandId: "c1", status: "completed", result: { status: "closed" } }
        })
        expect(played.received).toMatchObject([{ authority: tenant("a"), runId: "r1", version: 1 }])
      }),
      played
    )
  })

  it.effect("without a run is one to the runner", () => {
    const played = playedRuns()
    return inRunner(
      Effect.gen(function* () {
        const { frame, peer } = yield* greeted()
        yield* peer.write(frame("command", command({ type: "runner.drain" })))
        expect(yield* takeJson(peer)).toMatchObject({ kind: "command_result", runId: null })
        expect(played.received).toMatchObject([{ runId: null }])
      }),
      played
    )
  })

  it.effect("starts in its order and does not wait for the answer to the one before", () => {
    const played = playedRuns()
    const first = pendingAnswer()
    played.answer = ({ command }) => (command["commandId"] === "c1" ? first.answer() : Effect.succeed({}))
    return inRunner(
      Effect.gen(function* () {
        const { frame, peer } = yield* greeted()
        for (const commandId of ["c1", "c2", "c3"]) yield* peer.write(frame("command", command({ commandId })))
        expect(yield* takeJson(peer)).toMatchObject({ payload: { commandId: "c2" } })
        expect(yield* takeJson(peer)).toMatchObject({ payload: { commandId: "c3" } })
        yield* first.settle({ status: "failed" })
        expect(yield* takeJson(peer)).toMatchObject({ payload: { commandId: "c1", status: "failed" } })
        expect(played.received.map((one) => one.command["commandId"])).toEqual(["c1", "c2", "c3"])
      }),
      played
    )
  })

  it.effect("waits to be read while so many are not answered", () => {
    const played = playedRuns()
    const all = pendingAnswer()
    played.answer = all.answer
    return inRunner(
      Effect.gen(function* () {
        const { frame, peer } = yield* greeted()
        const ids = Array.from({ length: limits.commandsInFlightMax + 1 }, (_, n) => `c${n}`)
        yield* fork(Effect.forEach(ids, (commandId) => peer.write(frame("command", command({ commandId })))))
        yield* settle
        expect(played.received.length).toBe(limits.commandsInFlightMax)
        yield* all.settle({})
        const replies = yield* Effect.forEach(ids, () => takeJson(peer))
        expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(ids.length)
        expect(played.received.length).toBe(limits.commandsInFlightMax + 1)
      }),
      played
    )
  })

  it.effect("goes on when its connection is lost", () => {
    const played = playedRuns()
    const done = Deferred.makeUnsafe<void>()
    const gate = Deferred.makeUnsafe<void>()
    // As the runs do: what was taken is not interrupted.
    played.answer = () =>
      Effect.as(Effect.uninterruptible(Effect.andThen(Deferred.await(gate), Deferred.succeed(done, undefined))), {})
    return inRunner(
      Effect.gen(function* () {
        const { frame, peer } = yield* greeted()
        yield* peer.write(frame("command", command()))
        yield* settle
        yield* peer.close
        yield* Deferred.succeed(gate, undefined)
        yield* Deferred.await(done)
      }),
      played
    )
  })

  it.effect("that crashes ends its connection as a fault of ours", () => {
    const played = playedRuns()
    played.answer = () => Effect.die("hush")
    return inRunner(
      Effect.gen(function* () {
        const { frame, peer, serving } = yield* greeted()
        yield* peer.write(frame("command", command()))
        const last = yield* takeJson(peer)
        expect(last).toEqual(error("internal_error"))
        expect(JSON.stringify(last)).not.toContain("hush")
        expect((yield* Fiber.await(serving))._tag).toBe("Failure")
      }),
      played
    )
  })

  it.effect("is acknowledged by the operator only", () => {
    const played = playedRuns()
    const result = { commandId: "c1", commandType: "runner.suspend", controllerSeq: 1, status: "completed" }
    return inRunner(
      Effect.gen(function* () {
        for (const authority of [tenant("a"), undefined]) {
          const { frame, peer } = yield* greeted(authority)
          yield* peer.write(frame("command_result_ack", result))
          yield* peer.write(frame("ping", { nonce: "n" }))
          yield* takeJson(peer)
          expect(played.acknowledged).toEqual(authority === undefined ? ["c1"] : [])
        }
      }),
      played
    )
  })
})

describe("the connection", () => {
  it.effect("ends with its authority, and says so", () =>
    inRunner(
      Effect.gen(function* () {
        for (const why of ["expired", "revoked"] as const) {
          const ended = Deferred.makeUnsafe<"expired" | "revoked">()
          const { peer, serving } = yield* greeted(tenant("a"), {}, { authorityEnded: Deferred.await(ended) })
          yield* Deferred.succeed(ended, why)
          expect(yield* takeJson(peer)).toEqual(error(`authority_${why}`))
          expect(yield* peer.take).toBe(undefined)
          yield* Fiber.join(serving)
        }
      })
    )
  )

  it.effect("ends with its authority before a hello, too", () =>
    inRunner(
      Effect.gen(function* () {
        const { peer } = yield* plug(tenant("a"), { authorityEnded: Effect.succeed("expired") })
        expect(yield* takeJson(peer)).toEqual(error("authority_expired"))
      })
    )
  )

  it.effect("that is interrupted says that the runner stops", () =>
    inRunner(
      Effect.gen(function* () {
        const { peer, serving } = yield* greeted()
        yield* fork(Fiber.interrupt(serving))
        expect(yield* takeJson(peer)).toEqual(error("runner_stopped"))
        expect(yield* peer.take).toBe(undefined)
      })
    )
  )

  it.effect("ends when the peer ends", () =>
    inRunner(
      Effect.gen(function* () {
        const { peer, serving } = yield* greeted()
        yield* peer.close
        yield* Fiber.join(serving)
      })
    )
  )

  it.effect("ends when a write fails, although the peer says nothing", () =>
    inRunner(
      Effect.gen(function* () {
        const { serving, wire } = yield* greeted()
        yield* wire.destroy
        yield* Fiber.join(serving)
      })
    )
  )

  it.effect("ends in its time although the peer takes nothing", () =>
    inRunner(
      Effect.gen(function* () {
        const { serving } = yield* greeted(undefined, {}, { roomBytes: 2048 })
        for (let n = 0; n < 20; n++) yield* said("r1", started(`t${n}`))
        yield* settle
        const stopping = yield* fork(Fiber.interrupt(serving))
        yield* settle
        expect(stopping.pollUnsafe()).toBe(undefined)
        yield* TestClock.adjust(limits.frameChannelCloseMs)
        yield* Fiber.join(stopping)
      })
    )
  )
})
