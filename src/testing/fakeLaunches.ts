/** The processes of one launch under either backend, and what its host has of them: pipes, exit, release. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { invariant } from "../schema/errors.ts"
import type { Backend, OsProcess, ProcessExit, SpawnRequest } from "../services/Os.ts"
import { makeFakeAgent } from "./fakeAgent.ts"
import type { FakeAgent, FakeProgram } from "./FakeLinks.ts"
import { FakePipe } from "./fakePipe.ts"
import type { FakePipes, FakeProcess, FakeProcesses } from "./fakeProcesses.ts"
import type { Habits } from "./habits.ts"

/** What a spawn starts: a program that speaks, and what its process does besides. */
export interface FakeLaunch {
  readonly program?: FakeProgram
  readonly habits?: Habits
  /** Why it cannot be started. */
  readonly refused?: string
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

interface Start {
  readonly request: SpawnRequest
  readonly processes: FakeProcesses
  readonly pause: Effect.Effect<void>
  readonly habits: Habits
  readonly program: FakeProgram | undefined
  readonly pipeBytes: number
}

/** One synchronous step: the processes of a new launch, and what the host has of them. */
export const startLaunch = ({ habits, pause, pipeBytes, processes, program, request }: Start) => {
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
