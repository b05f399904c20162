/**
 * Turns on a real process beside a bare script on the same agent, in turns: what the runtime adds. A figure is the median of
 * the differences within a round, in milliseconds of wall time.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { faultyCommand } from "../fixtures/agents/faultyCommand.ts"
import type { Script } from "../fixtures/agents/script.ts"
import { type OpenedSession, Runner } from "../src/actors/Runner.ts"
import * as Greenroom from "../src/layers/Greenroom.ts"
import type { Event } from "../src/schema/prp/event.ts"
import type { Backend } from "../src/services/Os.ts"
import type { Provider } from "../src/services/Provider.ts"
import { BareAgent, type Command } from "./bareAgent.ts"
import { heapBytes, median } from "./measure.ts"

const cwd = "/tmp"
/** As in a runner that has been up for a while: until the compiler has seen the path often enough. */
const warmUpRounds = 400
const warmRounds = 200
const cancelRounds = 40
const coldRounds = 15
const floodUpdates = 200_000
const floodRounds = 5
const stalledUpdates = 1_000_000

type Program<A> = Effect.Effect<A, unknown, Runner>

export const run = (): Promise<Record<string, number>> =>
  Effect.gen(function* () {
    const warm = yield* warmTurns
    return {
      warmTurnMs: warm.turn,
      firstEventMs: warm.first,
      cancelMs: yield* cancels,
      coldOverheadMs: Math.max(yield* coldTurns("namespace"), yield* coldTurns("marked")),
      ...(yield* floods),
      stallGrowthMiB: yield* stall
    }
  }).pipe(Effect.provide(Greenroom.layer()), Effect.runPromise)

const providerOf = ({ command, args, env }: Command): Provider => ({
  id: "bench",
  name: "Bench",
  traits: {
    gate: { edit: "asks", execute: "asks", fetch: "asks", mcp: "asks" },
    toolKindTrusted: false,
    closesToolsOnCancel: true
  },
  locate: () => Effect.succeed({ _tag: "Found", command, args, version: undefined }),
  launch: () => Effect.succeed({ command, args, cwd, env: { ...env, PATH: process.env["PATH"] ?? "" } })
})

const open = (script: Script, backend?: Backend) =>
  Effect.flatMap(Runner, (runner) =>
    runner.open({
      provider: providerOf(faultyCommand(script)),
      cwd,
      home: "private",
      hostEnv: {},
      policy: "approve-all",
      ...(backend === undefined ? {} : { backend })
    })
  )

/** The bare script, ended with the scope. */
const openBare = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => new BareAgent(commandOf(script)).open(cwd)),
    (agent) => Effect.promise(() => agent.close())
  )

const commandOf = (script: Script): Command => {
  const { command, args, env } = faultyCommand(script)
  return { command, args, env: { ...env, PATH: process.env["PATH"] ?? "" } }
}

const now = Effect.sync(() => performance.now())

const isDelta = (event: Event) => event.eventType === "item.delta"

/** One whole turn: to its first event of the agent, and to its terminal. */
const turn = Effect.fnUntraced(function* (session: OpenedSession) {
  const begin = yield* now
  const prompt = yield* session.prompt("go")
  let first = Number.NaN
  yield* Stream.runForEach(prompt.events, (event) =>
    Effect.sync(() => {
      if (Number.isNaN(first) && isDelta(event)) first = performance.now() - begin
    })
  )
  return { first, whole: (yield* now) - begin }
}, Effect.scoped)

const warmTurns: Program<{ turn: number; first: number }> = Effect.gen(function* () {
  const script: Script = { echo: { updates: 5, bytes: 300 } }
  const ours = yield* open(script)
  const bare = yield* openBare(script)
  const turns: Array<number> = []
  const firsts: Array<number> = []
  for (let round = -warmUpRounds; round < warmRounds; round++) {
    const rival = yield* Effect.promise(() => bare.prompt("go"))
    const own = yield* turn(ours)
    if (round < 0) continue
    turns.push(own.whole - rival.responseMs)
    firsts.push(own.first - rival.firstUpdateMs)
  }
  return { turn: median(turns), first: median(firsts) }
}).pipe(Effect.scoped)

const cancels: Program<number> = Effect.gen(function* () {
  const script: Script = { on: { "session/prompt": [{ do: "text", times: "forever", everyMs: 5, bytes: 300 }] } }
  const ours = yield* open(script)
  const bare = yield* openBare(script)
  const differences: Array<number> = []
  for (let round = -3; round < cancelRounds; round++) {
    const rival = yield* Effect.promise(() => bare.cancelled("go"))
    const own = yield* cancelled(ours)
    if (round >= 0) differences.push(own - rival)
  }
  return median(differences)
}).pipe(Effect.scoped)

/** From the cancel to the terminal. */
const cancelled = Effect.fnUntraced(function* (session: OpenedSession) {
  const prompt = yield* session.prompt("go")
  yield* prompt.events.pipe(Stream.takeUntil(isDelta), Stream.runDrain)
  const begin = yield* now
  yield* prompt.cancel
  return (yield* now) - begin
}, Effect.scoped)

/** Start, handshake, session and one prompt, in a process that has done it before. */
const coldTurns = (backend: Backend): Program<number> =>
  Effect.gen(function* () {
    const script: Script = { echo: { updates: 1 } }
    const differences: Array<number> = []
    for (let round = -2; round < coldRounds; round++) {
      const begin = yield* now
      yield* Effect.scoped(
        Effect.gen(function* () {
          const bare = yield* openBare(script)
          yield* Effect.promise(() => bare.prompt("go"))
          const rival = (yield* now) - begin
          const ours = yield* now
          const session = yield* open(script, backend)
          yield* turn(session)
          if (round >= 0) differences.push((yield* now) - ours - rival)
        })
      )
    }
    return median(differences)
  })

const floods: Program<{ updatesPerSecond: number; floodVsBare: number }> = Effect.gen(function* () {
  const script: Script = { on: { "session/prompt": [{ do: "text", times: floodUpdates, bytes: 300 }] } }
  const session = yield* open(script)
  const bare = yield* openBare(script)
  const rates: Array<number> = []
  const ratios: Array<number> = []
  for (let round = -2; round < floodRounds; round++) {
    const rival = yield* Effect.promise(() => bare.prompt("go"))
    const begin = yield* now
    const prompt = yield* session.prompt("go")
    let next = 0
    yield* Stream.runForEachArray(prompt.events, (events) =>
      Effect.sync(() => {
        for (const event of events) if (isDelta(event)) next++
      })
    )
    if (next !== floodUpdates) throw new Error(`${next} of ${floodUpdates} updates came through`)
    const tookMs = (yield* now) - begin
    if (round < 0) continue
    rates.push(next / (tookMs / 1000))
    ratios.push(tookMs / rival.responseMs)
  }
  return { updatesPerSecond: median(rates), floodVsBare: median(ratios) }
}).pipe(Effect.scoped)

/** Heap growth of the host while its consumer stands still; the cancel must still end the turn. */
const stall: Program<number> = Effect.gen(function* () {
  const script: Script = { on: { "session/prompt": [{ do: "text", times: stalledUpdates, bytes: 300 }] } }
  const session = yield* open(script)
  const before = heapBytes()
  const prompt = yield* session.prompt("go")
  yield* prompt.events.pipe(Stream.takeUntil(isDelta), Stream.runDrain)
  let peak = 0
  // Until nothing moves any more: the agent waits for its pipe.
  for (let still = 0, last = 0; still < 5;) {
    yield* Effect.sleep(200)
    const grown = heapBytes() - before
    still = Math.abs(grown - last) < 64 * 1024 ? still + 1 : 0
    last = grown
    peak = Math.max(peak, grown)
  }
  const outcome = yield* prompt.cancel
  if (outcome._tag !== "Cancelled") throw new Error(`the cancelled turn ended ${outcome._tag}`)
  return peak / (1024 * 1024)
}).pipe(Effect.scoped)
