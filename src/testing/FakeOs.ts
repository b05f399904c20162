/**
 * An operating system in this process: `Os` over simulated processes, pipes and ledgers, so that everything above `Os` can be
 * run by the simulator.
 *
 * Guarantees: no call is done in the step in which it is asked for; a census is no more atomic than that of a kernel; a
 * signal re-reads the identity in the step in which it is sent; every signal is recorded with whom it was meant for and
 * whom it hit. One layer per `makeFakeOs`; what lives when the layer is released stays alive for the test to see.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { BackendUnavailable, LaunchFailed } from "../schema/errors.ts"
import {
  type Backend,
  Os,
  type OsProcess,
  type ProcessIdentity,
  type SignalName,
  type SpawnRequest
} from "../services/Os.ts"
import { type FakeLaunch, type FakeLaunched, startLaunch } from "./fakeLaunches.ts"
import { type FakeLedger, makeFakeLedgers } from "./fakeLedgers.ts"
import { type FakeProcess, FakeProcesses } from "./fakeProcesses.ts"

export interface FakeOsScript {
  /** Of the n-th spawn, from 0. */
  readonly launch: (request: SpawnRequest, n: number) => FakeLaunch
  /** Those that work here; the first is the default. Default: both, `namespace` first. */
  readonly backends?: ReadonlyArray<Backend>
  readonly ledgers?: ReadonlyArray<FakeLedger>
  /** Process numbers of the machine; a number that is free is soon used again. Default 32. */
  readonly pidsMax?: number
  /** Processes of nobody that take a number in the step in which it becomes free, each with one chance in two. Default 0. */
  readonly strangers?: number
  /** What a pipe holds. Default 64 KiB. */
  readonly pipeBytes?: number
  /** Turns of the scheduler that a call takes at most, on either side of what it does. Default 2. */
  readonly turnsMax?: number
  /** A bug: signals go to whoever has the number now. */
  readonly signalsBlindly?: boolean
}

export interface FakeSignal {
  readonly atMs: number
  readonly signal: SignalName
  readonly meant: ProcessIdentity
  /** `undefined`: nothing was sent. */
  readonly hit: FakeProcess | undefined
}

export interface FakeOs {
  readonly layer: Layer.Layer<Os>
  /** All that ever were, in the order of their births. */
  readonly processes: ReadonlyArray<FakeProcess>
  readonly signals: ReadonlyArray<FakeSignal>
  readonly launches: ReadonlyArray<FakeLaunched>
  /** Markers in the ledger of this host, and paths of the foreign ledgers that are left. */
  readonly ledger: () => { readonly own: ReadonlyArray<string>; readonly foreign: ReadonlyArray<string> }
  /** Whether a signal of ours may hit it: it is of a launch of this host, or of a host that is gone. */
  readonly isOurs: (process: FakeProcess) => boolean
  /** Whether the backend of its launch can see it: not one that dropped its marker, but for the agent itself or in a namespace. */
  readonly isVisible: (process: FakeProcess) => boolean
}

export const makeFakeOs = (script: FakeOsScript): FakeOs => {
  const {
    backends = ["namespace", "marked"],
    pidsMax = 32,
    pipeBytes = 64 * 1024,
    strangers = 0,
    turnsMax = 2
  } = script
  const processes = new FakeProcesses(pidsMax, strangers)
  const ledgers = makeFakeLedgers(script.ledgers ?? [], processes)
  const signals: Array<FakeSignal> = []
  const looks = new Map<string, number>()
  const launches: Array<FakeLaunched> = []
  const pause = pauseOf(turnsMax)
  const slowly = <A, E>(effect: Effect.Effect<A, E>) => Effect.andThen(pause, Effect.tap(effect, pause))

  const backend = (asked: Backend = backends[0] ?? "namespace") =>
    backends.includes(asked)
      ? Effect.succeed(asked)
      : Effect.fail(new BackendUnavailable({ backend: asked, reason: "not on this machine" }))

  const spawn = (request: SpawnRequest) =>
    Effect.suspend((): Effect.Effect<OsProcess, LaunchFailed> => {
      const { habits, program, refused } = script.launch(request, launches.length)
      if (refused !== undefined) return Effect.fail(new LaunchFailed({ command: request.command, reason: refused }))
      const started = startLaunch({ request, processes, pause, habits: habits ?? {}, program, pipeBytes })
      launches.push({
        ...started.launched,
        wasInLedger: ledgers.own().includes(request.marker),
        lookedAtMs: () => looks.get(request.marker) ?? 0
      })
      return Effect.succeed(started.process)
    }).pipe(slowly, Effect.uninterruptible)

  const signal = (meant: ProcessIdentity, name: SignalName) =>
    Effect.sync(() => {
      const found = processes.find(meant.pid)
      const hit = script.signalsBlindly === true || isSame(found?.identity, meant) ? found : undefined
      signals.push({ atMs: processes.machine.now(), signal: name, meant, hit })
      if (hit !== undefined) processes.signal(hit, name)
      return hit !== undefined
    }).pipe(slowly)

  const census = Effect.fnUntraced(function* (marker: string) {
    looks.set(marker, processes.machine.now())
    const anchor = launches.find((launch) => launch.marker === marker && launch.backend === "namespace")?.main
    const inside = anchor?.state === "running" ? yield* look(processes, marker, anchor) : undefined
    return inside !== undefined && anchor?.state === "running" ? inside : yield* look(processes, marker, undefined)
  })

  const layer = Layer.effect(
    Os,
    Effect.gen(function* () {
      yield* startMachine(processes)
      ledgers.start()
      return Os.of({
        backends: Effect.succeed(backends.map((one) => ({ backend: one, usable: true, reason: "a fake" }))),
        backend: (asked) => slowly(backend(asked)),
        spawn,
        signal,
        readIdentity: (pid) => slowly(Effect.sync(() => processes.find(pid)?.identity)),
        census: (marker) => slowly(census(marker)),
        ledger: {
          add: (entry) => slowly(ledgers.add(entry)).pipe(Effect.uninterruptible),
          remove: (marker) => slowly(ledgers.remove(marker)).pipe(Effect.uninterruptible),
          foreign: slowly(ledgers.foreign),
          forget: (ledger) => slowly(ledgers.forget(ledger))
        }
      })
    })
  )

  return {
    layer,
    processes: processes.all,
    signals,
    launches,
    ledger: () => ({ own: ledgers.own(), foreign: ledgers.paths() }),
    isOurs: ({ launch }) =>
      launch !== undefined && (launches.some(({ marker }) => marker === launch) || ledgers.isOfGoneHost(launch)),
    isVisible: (process) =>
      process.marker !== undefined || process.anchor !== undefined || launches.some(({ main }) => main === process)
  }
}

const isSame = (one: ProcessIdentity | undefined, other: ProcessIdentity): boolean =>
  one?.pid === other.pid && one.startTime === other.startTime && one.bootId === other.bootId

/** At most so many turns of the scheduler. */
const pauseOf = (turnsMax: number): Effect.Effect<void> =>
  Effect.flatMap(Random.nextIntBetween(0, turnsMax), (turns) =>
    turns === 0 ? Effect.void : Effect.forEach(Array.from({ length: turns }), () => Effect.yieldNow, { discard: true })
  )

/** What lives on the machine runs beside the host, until the layer is released. */
const startMachine = Effect.fnUntraced(function* (processes: FakeProcesses) {
  const context = yield* Effect.context()
  const clock = yield* Clock.Clock
  const random = yield* Random.Random
  const fibers = new Set<Fiber.Fiber<unknown, unknown>>()
  let isReleased = false
  processes.start({
    now: () => clock.currentTimeMillisUnsafe(),
    random: () => random.nextDoubleUnsafe(),
    fork: (effect) => {
      const fiber = Effect.runForkWith(context)(isReleased ? Effect.void : Effect.andThen(Effect.yieldNow, effect))
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
      return fiber
    }
  })
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isReleased = true
      return Fiber.interruptAll([...fibers])
    })
  )
})

/** A census goes from number to number, and others get their turn in between. */
const look = Effect.fnUntraced(function* (processes: FakeProcesses, marker: string, anchor: FakeProcess | undefined) {
  const found: Array<ProcessIdentity> = []
  for (const pid of processes.numbers()) {
    if (processes.machine.random() < 0.2) yield* Effect.yieldNow
    const process = processes.find(pid)
    if (process === undefined || process.role === "parent") continue
    const isReadable = processes.machine.now() >= process.bornAtMs + (process.habits.execMs ?? 0)
    const isMarked = isReadable && process.marker === marker
    if (isMarked || (anchor !== undefined && process.anchor === anchor)) found.push(process.identity)
  }
  return found
})
