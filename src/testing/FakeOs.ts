/**
 * An operating system in this process: `Os` over simulated processes, pipes and ledgers, so that everything above `Os` can be
 * run by the simulator.
 *
 * Guarantees: no call is done in the step in which it is asked for; a census is no more atomic than that of a kernel; a
 * signal re-reads the identity in the step in which it is sent; every signal is recorded with whom it was meant for and
 * whom it hit. One layer per `makeFakeOs`; what lives when the layer is released stays alive for the test to see.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { BackendUnavailable, invariant, LaunchFailed } from "../schema/errors.ts"
import {
  type Backend,
  Os,
  type OsProcess,
  type ProcessExit,
  type ProcessIdentity,
  type SignalName,
  type SpawnRequest
} from "../services/Os.ts"
import { makeFakeAgent } from "./fakeAgent.ts"
import { type FakeLedger, makeFakeLedgers } from "./fakeLedgers.ts"
import type { FakeAgent, FakeProgram } from "./FakeLinks.ts"
import { FakePipe } from "./fakePipe.ts"
import { FakeProcesses, type FakePipes, type FakeProcess, type Habits } from "./fakeProcesses.ts"

/** What a spawn starts: a program that speaks, and what its process does besides. */
export interface FakeLaunch {
  readonly program?: FakeProgram
  readonly habits?: Habits
  /** Why it cannot be started. */
  readonly refused?: string
}

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

/** A launch of this host, as the machine knows it. */
export interface FakeLaunched {
  readonly marker: string
  readonly backend: Backend
  readonly main: FakeProcess
  readonly agentProcess: FakeProcess
  readonly agent: FakeAgent
  /** It was in the ledger when it was spawned. */
  readonly wasInLedger: boolean
  /** When the host first ended its input. */
  readonly eofAtMs: () => number | undefined
  /** When the last census of it began. */
  readonly lookedAtMs: () => number
  /** Pipes of which the host holds an end. */
  readonly openPipes: () => ReadonlyArray<string>
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

interface Start {
  readonly request: SpawnRequest
  readonly processes: FakeProcesses
  readonly pause: Effect.Effect<void>
  readonly habits: Habits
  readonly program: FakeProgram | undefined
  readonly pipeBytes: number
}

/** One synchronous step: the processes of a new launch, and what the host has of them. */
const startLaunch = ({ habits, pause, pipeBytes, processes, program, request }: Start) => {
  const { backend, marker } = request
  const pipes = makePipes(pipeBytes)
  const exited = Deferred.makeUnsafe<ProcessExit>()
  const birth = { launch: marker, marker, pipes } as const
  const held: Habits = { holds: ["stdin", "stdout", "stderr"], ...habits }
  /** The host waits for its child, then hears of it. */
  const hostWaits = (child: () => FakeProcess, exit: ProcessExit) =>
    processes.machine.fork(
      Effect.andThen(
        pause,
        Effect.andThen(
          Effect.sync(() => processes.waitFor(child())),
          Effect.andThen(pause, Deferred.succeed(exited, exit))
        )
      )
    )

  const inNamespace = () => {
    const anchor = must(processes.born({ holds: [] }, { role: "anchor", launch: marker }))
    const onParentEnd = (exit: ProcessExit) => void hostWaits(() => parent, exit)
    const parent = must(processes.born({ holds: [] }, { role: "parent", launch: marker, marker, onEnd: onParentEnd }))
    const onEnd = (exit: ProcessExit) => {
      processes.waitFor(agent)
      processes.end(parent, exit._tag === "Signal" ? { ...exit, inferred: true } : exit)
    }
    const agent: FakeProcess = must(processes.born(held, { ...birth, role: "agent", parent, anchor, onEnd }))
    return { main: anchor, agentProcess: agent }
  }
  const marked = () => {
    const onEnd = (exit: ProcessExit) => void hostWaits(() => agent, exit)
    const agent: FakeProcess = must(processes.born(held, { ...birth, role: "agent", onEnd }))
    return { main: agent, agentProcess: agent }
  }
  const { agentProcess, main } = backend === "namespace" ? inNamespace() : marked()
  const agent = makeFakeAgent({ request, process: agentProcess, pipes, processes, program })

  let eofAtMs: number | undefined
  const process: OsProcess = {
    marker,
    backend,
    identity: main.identity,
    stdout: Effect.andThen(pause, pipes.stdout.read),
    stderr: Effect.andThen(pause, pipes.stderr.read),
    write: (bytes) => Effect.tap(pipes.stdin.write(bytes), pause),
    end: Effect.sync(() => {
      eofAtMs ??= processes.machine.now()
      pipes.stdin.dropAfterWrites("host")
    }),
    exit: Deferred.await(exited),
    closePipes: Effect.sync(() => Object.values(pipes).forEach((pipe) => pipe.drop("host"))),
    release:
      backend === "marked"
        ? Effect.void
        : Effect.andThen(
            Effect.sync(() => processes.signal(main, "SIGKILL")),
            Effect.asVoid(Deferred.await(exited))
          )
  }
  const launched: Omit<FakeLaunched, "wasInLedger" | "lookedAtMs"> = {
    marker,
    backend,
    main,
    agentProcess,
    agent,
    eofAtMs: () => eofAtMs,
    openPipes: () =>
      Object.entries(pipes).flatMap(([name, pipe]) =>
        pipe.readers.has("host") || pipe.writers.has("host") ? [name] : []
      )
  }
  return { process, launched }
}

const makePipes = (bytesMax: number): FakePipes => {
  const pipes = {
    stdin: new FakePipe<FakeProcess | "host">(bytesMax),
    stdout: new FakePipe<FakeProcess | "host">(bytesMax),
    stderr: new FakePipe<FakeProcess | "host">(bytesMax)
  }
  pipes.stdin.writers.add("host")
  pipes.stdout.readers.add("host")
  pipes.stderr.readers.add("host")
  return pipes
}

const must = (process: FakeProcess | undefined): FakeProcess => {
  invariant(process !== undefined, "fakeOs.born")
  return process
}
