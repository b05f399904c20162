import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { connectRunner } from "../../../src/layers/transport/runnerConnection.ts"
import { lineChannel } from "../../../src/layers/transport/lineChannel.ts"
import { limits } from "../../../src/schema/limits.ts"
import { envelope } from "../../../src/schema/prp/event.ts"
import * as Ids from "../../../src/services/Ids.ts"
import { started } from "../../actors/durableHost.ts"
import { fork, inRunner, join, playedRuns, said, settle, statusOf } from "../../actors/controlHost.ts"
import { memoryDuplex } from "./memoryDuplex.ts"

describe("commands", () => {
  it.effect("are numbered per run, behind what the welcome says", () => {
    const played = playedRuns()
    played.statuses = [statusOf("r1", { lastControllerSeq: 7 })]
    return inRunner(
      Effect.gen(function* () {
        const connection = yield* join({ events: false })
        yield* connection.command("r1", "session.snapshot", {})
        yield* connection.command("r1", "session.close", {})
        yield* connection.command("r2", "run.prepare", {})
        yield* connection.command(null, "runner.drain", {})
        expect(played.received.map(({ command, runId }) => [runId, command["type"], command["controllerSeq"]])).toEqual(
          [
            ["r1", "session.snapshot", 8],
            ["r1", "session.close", 9],
            ["r2", "run.prepare", 1],
            [null, "runner.drain", 1]
          ]
        )
      }),
      played
    )
  })

  it.effect("whose number was taken are sent under the next, a few times and under other ids", () => {
    const played = playedRuns()
    let taken = 3
    played.answer = ({ command }) =>
      Effect.sync(() =>
        command["controllerSeq"] === taken + 1
          ? {}
          : { status: "rejected" as const, code: "controller_sequence_gap", expectedSeq: taken + 1 }
      )
    return inRunner(
      Effect.gen(function* () {
        const connection = yield* join({ events: false })
        expect(yield* connection.command("r1", "session.snapshot", {})).toMatchObject({ status: "completed" })
        expect(new Set(played.received.map(({ command }) => command["commandId"])).size).toBe(2)
        played.received.length = 0
        // Somebody is always faster.
        played.answer = () =>
          Effect.succeed({ status: "rejected", code: "controller_sequence_gap", expectedSeq: ++taken })
        expect(yield* connection.command("r1", "session.snapshot", {})).toMatchObject({
          code: "controller_sequence_gap"
        })
        expect(played.received).toHaveLength(1 + limits.commandRenumberingsMax)
      }),
      played
    )
  })

  it.effect("whose connection is lost are handed back, and sent again as they were", () => {
    const played = playedRuns()
    const gate = Deferred.makeUnsafe<void>()
    played.answer = () => Effect.as(Deferred.await(gate), {})
    return inRunner(
      Effect.gen(function* () {
        const first = yield* join({ events: false })
        const sending = yield* fork(Effect.flip(first.command("r1", "session.snapshot", { a: 1 })))
        yield* settle
        yield* first.end
        const lost = yield* Fiber.join(sending)
        expect(lost).toMatchObject({ code: "command_unanswered", runId: "r1" })
        Deferred.doneUnsafe(gate, Effect.void)
        const second = yield* join({ events: false })
        expect(yield* second.resend(lost)).toMatchObject({ status: "completed" })
        expect(played.received.map(({ command }) => command)).toEqual([lost.command, lost.command])
      }),
      played
    )
  })

  it.effect("that end the runner are acknowledged when they are answered, and no others", () => {
    const played = playedRuns()
    return inRunner(
      Effect.gen(function* () {
        const connection = yield* join({ events: false })
        yield* connection.command("r1", "session.close", {})
        const { commandId } = yield* connection.command(null, "runner.shutdown", {})
        yield* settle
        expect(played.acknowledged).toEqual([commandId])
      }),
      played
    )
  })
})

describe("events", () => {
  it.effect("come once and in order, and again where they were not acknowledged", () =>
    inRunner(
      Effect.gen(function* () {
        const first = yield* join()
        yield* said("r1", started("t1"), started("t2"), started("t3"))
        const taken: Array<number> = []
        while (taken.length < 3) taken.push(...(yield* first.take).map(({ sourceSeq }) => sourceSeq))
        expect(taken).toEqual([1, 2, 3])
        yield* first.acknowledge(2)
        yield* first.ping
        yield* first.end
        const second = yield* join()
        expect((yield* second.take).map(({ sourceSeq }) => sourceSeq)).toEqual([3])
      })
    )
  )
})

describe("a runner", () => {
  /** Plays the runner by hand. */
  const played = Effect.gen(function* () {
    const [ours, theirs] = memoryDuplex()
    const runner = lineChannel(theirs, limits.runnerFrameBytesMax)
    const head = {
      protocol: "paperclip.runner",
      version: 2,
      runnerInstanceId: "runner_1",
      connectionId: "connection_1"
    }
    const write = (kind: string, payload: unknown, about = {}) =>
      runner.write(JSON.stringify({ ...head, kind, runId: null, payload, ...about }))
    const welcome = {
      selectedVersion: 2,
      runnerVersion: "1",
      runnerState: "ready",
      authority: { _tag: "Operator" },
      afterSourceSeq: 0,
      producedSourceSeq: 0,
      runs: [],
      runsOmitted: 0
    }
    return { channel: lineChannel(ours, limits.runnerFrameBytesMax), runner, write, welcome }
  })
  const connecting = (channel: Parameters<typeof connectRunner>[0]) =>
    Effect.provide(connectRunner(channel, { name: "main" }), Ids.layer)

  it.effect("that says nothing is not waited for beyond the bound", () =>
    Effect.gen(function* () {
      const { channel } = yield* played
      const connected = yield* fork(Effect.flip(connecting(channel)))
      yield* TestClock.adjust(limits.helloMs - 1)
      expect(connected.pollUnsafe()).toBe(undefined)
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(connected)).toMatchObject({ _tag: "FrameChannelClosed" })
    }).pipe(Effect.scoped)
  )

  it.effect("that refuses says why", () =>
    Effect.gen(function* () {
      const { channel, write } = yield* played
      yield* write("error", { code: "versions_disjoint", message: "no", protocolMin: 3 })
      expect(yield* Effect.flip(connecting(channel))).toMatchObject({
        _tag: "RunnerRefused",
        code: "versions_disjoint",
        facts: { protocolMin: 3 }
      })
    }).pipe(Effect.scoped)
  )

  it.effect("that leaves an event out, or sends what is none, is not listened to any more", () =>
    Effect.gen(function* () {
      const event = envelope(started("t6"), {
        sourceEventId: "runner_1:6",
        sourceSeq: 6,
        sourceInstanceId: "runner_1",
        runId: "r1",
        emittedAt: "2026-01-01T00:00:00.000Z",
        normalizedSessionId: "session_1"
      })
      for (const [payload, reason] of [
        [{ event: {}, previousSourceSeq: 0 }, "an event is not one of the contract"],
        [{ event, previousSourceSeq: 5 }, "an event is missing"]
      ] as const) {
        const { channel, welcome, write } = yield* played
        yield* write("welcome", welcome)
        const connection = yield* connecting(channel)
        yield* write("event", payload)
        expect(yield* Effect.flip(connection.take)).toMatchObject({ _tag: "FrameChannelClosed", reason })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("that speaks of another connection is not listened to any more", () =>
    Effect.gen(function* () {
      const { channel, welcome, write } = yield* played
      yield* write("welcome", welcome)
      const connection = yield* connecting(channel)
      yield* write("pong", { nonce: "0" }, { connectionId: "connection_2" })
      expect(yield* Effect.flip(connection.ping)).toMatchObject({ _tag: "FrameChannelClosed" })
    }).pipe(Effect.scoped)
  )
})
