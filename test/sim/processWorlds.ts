/** Lives of owned processes: each with its own way to end, or not to. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AgentLink, Launch } from "../../src/services/AgentLink.ts"
import type { Backend, ProcessExit } from "../../src/services/Os.ts"
import type { FakeLaunch, FakeProgram, Habits } from "../../src/testing/index.ts"
import type { ProcessHost, ProcessWorld } from "./processHost.ts"

const encoder = new TextEncoder()

/** Frames as a host writes them. */
export const frame = (n: number, padding = 0): Uint8Array =>
  encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", id: n, padding: "x".repeat(padding) })}\n`)

/** Says again whatever it hears. */
export const echo: FakeProgram = (agent) => Effect.forever(Effect.flatMap(agent.receive, (one) => agent.send(one)))

export const killed: ProcessExit = { _tag: "Signal", signal: "SIGKILL", inferred: false }

const exits =
  (afterMs: number, exit: ProcessExit): FakeProgram =>
  (agent) =>
    Effect.andThen(Effect.sleep(afterMs), agent.exit(exit))

/** One machine per backend, full of strangers who want a number. */
export const machine = (backend: Backend, agent: FakeLaunch, more: Partial<ProcessWorld["machine"]> = {}) => ({
  backends: [backend],
  strangers: 6,
  pidsMax: 16,
  launch: () => agent,
  ...more
})

type Use = (link: AgentLink, host: ProcessHost) => Effect.Effect<unknown, unknown, Scope.Scope>

const opening =
  (use: Use = () => Effect.void, launch: Partial<Launch> = {}): ProcessWorld["host"] =>
  (host) =>
    Effect.flatMap(host.open(launch), (link) => use(link, host))

/** Some bytes there and back. */
const talk = (link: AgentLink, times = 3, padding = 0) =>
  Effect.gen(function* () {
    for (let n = 0; n < times; n++) {
      yield* link.write(frame(n, padding))
      yield* link.pull
    }
  })

/** Everything there is to read, to the end. */
const readAll = (link: AgentLink) =>
  Effect.gen(function* () {
    let bytes = 0
    for (;;) {
      const piece = yield* link.pull
      if (piece === undefined) return bytes
      bytes += piece.length
    }
  })

const close: Use = (link) => link.close
const stubborn: Habits = { onEof: {}, onTerm: {} }
const deafToEof: Habits = { onEof: {} }
const tool = (habits: Habits = {}): Habits => ({ ownSession: true, ...habits })

/** Of both backends; `reaches` of the one that `marked` alone can get into is named there. */
const ofBoth = (name: string, of: (backend: Backend) => ProcessWorld): Readonly<Record<string, ProcessWorld>> => ({
  [`${name} (marked)`]: of("marked"),
  [`${name} (namespace)`]: of("namespace")
})

export const processWorlds: Readonly<Record<string, ProcessWorld>> = {
  ...ofBoth("open, talk and close", (backend) => ({
    machine: machine(backend, { program: echo }),
    host: opening((link, host) => Effect.andThen(talk(link), close(link, host))),
    reaches: ["Code eof"]
  })),
  ...ofBoth("open, and the scope closes", (backend) => ({
    machine: machine(backend, { program: echo, habits: { onEof: { exitMs: 2_100 } } }),
    host: opening((link) => talk(link, 1)),
    reaches: ["Code eof"]
  })),
  ...ofBoth("two callers close and one kills, at once", (backend) => ({
    machine: machine(backend, { habits: { onEof: { exitMs: 100 } } }),
    host: opening((link) => Effect.all([link.close, link.kill, link.close], { concurrency: "unbounded" })),
    reaches: ["Signal SIGKILL"]
  })),
  ...ofBoth("killed in mid-talk", (backend) => ({
    machine: machine(backend, { program: echo, habits: { onBirth: { forks: [tool(stubborn)] } } }),
    host: opening((link) => Effect.all([talk(link, 20), link.kill], { concurrency: "unbounded" })),
    reaches: ["Signal SIGKILL"]
  })),
  ...ofBoth("an agent that dies at once", (backend) => ({
    machine: machine(backend, { program: exits(0, { _tag: "Code", code: 127 }) }),
    host: opening((link) => Effect.andThen(Effect.exit(talk(link)), link.exit)),
    reaches: ["Code"]
  })),
  ...ofBoth("an agent that dies at once and leaves a tool behind", (backend) => ({
    machine: machine(backend, {
      program: exits(0, { _tag: "Code", code: 1 }),
      habits: { onBirth: { forks: [tool()] } }
    }),
    host: opening((link) => link.exit),
    reaches: ["Code eof SIGTERM"]
  })),
  ...ofBoth("an agent that ignores the end of input", (backend) => ({
    machine: machine(backend, { habits: deafToEof }),
    host: opening(close),
    reaches: ["Signal eof SIGTERM"]
  })),
  ...ofBoth("an agent and a tool that ignore everything", (backend) => ({
    machine: machine(backend, { habits: { ...stubborn, onBirth: { forks: [tool(stubborn)] } } }),
    host: opening(close, { graces: { eofMs: 100, termMs: 50 } }),
    reaches: ["Signal eof SIGTERM SIGKILL"]
  })),
  ...ofBoth("an agent that forks at SIGTERM and exits", (backend) => ({
    machine: machine(backend, {
      habits: { onEof: {}, onTerm: { forks: [tool({ doubleForked: true, ...stubborn })], exitMs: 0 } }
    }),
    host: opening(close),
    reaches: ["Signal eof SIGTERM SIGKILL"]
  })),
  ...ofBoth("an agent that goes on in a child at the end of input", (backend) => ({
    machine: machine(backend, {
      habits: { onEof: { forks: [tool({ doubleForked: true, onBirth: { exitMs: 1_000 } })], exitMs: 0 } }
    }),
    host: opening(close),
    reaches: ["Code eof"]
  })),
  ...ofBoth("a fork storm", (backend) => ({
    machine: machine(
      backend,
      {
        habits: {
          ...stubborn,
          storm: {
            everyMs: 300,
            most: 12,
            of: tool({ ...stubborn, storm: { everyMs: 200, most: 3, of: tool(stubborn) } })
          }
        }
      },
      { pidsMax: 80 }
    ),
    host: opening(close, { graces: { eofMs: 500, termMs: 500 } }),
    reaches: ["Signal eof SIGTERM SIGKILL"]
  })),
  ...ofBoth("tools that come and go, and their numbers with them", (backend) => ({
    machine: machine(backend, {
      program: echo,
      habits: {
        onEof: { exitMs: 40 },
        storm: { everyMs: 2, most: 20, of: tool({ onBirth: { exitMs: 3 }, execMs: 1 }) }
      }
    }),
    host: opening((link, host) => Effect.andThen(talk(link, 2), close(link, host)), {
      graces: { eofMs: 20, termMs: 5 }
    }),
    reaches: ["Signal eof SIGTERM"]
  })),
  ...ofBoth("children that nobody waits for", (backend) => ({
    machine: machine(backend, {
      habits: { ...deafToEof, neverWaits: true, onBirth: { forks: [tool({ onBirth: { exitMs: 1 } }), tool()] } }
    }),
    host: opening(close),
    reaches: ["Signal eof SIGTERM"]
  })),
  ...ofBoth("a tool that changes its number while it is looked for", (backend) => ({
    machine: machine(
      backend,
      {
        program: exits(0, { _tag: "Code", code: 0 }),
        habits: {
          onBirth: {
            forks: [tool({ onBirth: { afterMs: 1, forks: [tool({ doubleForked: true, ...deafToEof })], exitMs: 0 } })]
          }
        }
      },
      { pidsMax: 8, strangers: 2 }
    ),
    host: opening((link) => link.exit),
    reaches: ["Code eof SIGTERM"]
  })),
  ...ofBoth("a tool in the middle of an exec while it is looked for", (backend) => ({
    machine: machine(backend, {
      habits: { onEof: { forks: [tool({ ...deafToEof, doubleForked: true, execMs: 1 })], exitMs: 0 } }
    }),
    host: opening(close),
    reaches: ["Code eof SIGTERM"]
  })),
  ...ofBoth("a tool that ends with its agent", (backend) => ({
    machine: machine(backend, {
      habits: { onEof: { exitMs: 10 }, onBirth: { forks: [tool({ ...stubborn, onOrphaned: { exitMs: 30 } })] } }
    }),
    host: opening(close),
    reaches: ["Code eof"]
  })),
  ...ofBoth("a grandchild that holds the pipes, and talks", (backend) => ({
    machine: machine(backend, {
      program: exits(20, { _tag: "Code", code: 0 }),
      habits: {
        onBirth: {
          forks: [
            tool({
              ...stubborn,
              holds: ["stdin", "stdout", "stderr"],
              says: [10, 100, 200, 5_000].map((afterMs) => ({ afterMs, to: "stdout", text: "late\n" }))
            })
          ]
        }
      }
    }),
    host: opening((link, host) =>
      Effect.flatMap(readAll(link), (bytes) => host.reach(bytes > 0 ? "late output" : "no output"))
    ),
    reaches: ["late output", "Code eof SIGTERM SIGKILL"]
  })),
  ...ofBoth("an agent that is stuck in a write", (backend) => ({
    machine: machine(
      backend,
      {
        program: (agent) => Effect.forever(Effect.andThen(agent.sendBytes(new Uint8Array(100)), Effect.sleep(1))),
        habits: { onEof: { exitMs: 5 } }
      },
      { pipeBytes: 64 }
    ),
    host: opening((link, host) => Effect.andThen(link.pull, close(link, host))),
    reaches: ["Code eof"]
  })),
  ...ofBoth("an agent that reads nothing, and a host that writes", (backend) => ({
    machine: machine(backend, { program: (agent) => agent.stallStdin, habits: stubborn }, { pipeBytes: 64 }),
    host: opening((link, host) =>
      Effect.andThen(
        Effect.timeoutOption(talk(link, 2, 100), 1_000),
        Effect.andThen(host.reach("write stalled"), close(link, host))
      )
    ),
    reaches: ["write stalled", "Signal eof SIGTERM SIGKILL"]
  })),
  ...ofBoth("an agent that reads now and then", (backend) => ({
    machine: machine(
      backend,
      {
        program: (agent) =>
          Effect.andThen(
            Effect.forkScoped(
              Effect.forever(
                Effect.andThen(
                  Effect.andThen(agent.stallStdin, Effect.sleep(100)),
                  Effect.andThen(agent.readStdin, Effect.sleep(1))
                )
              )
            ),
            echo(agent)
          )
      },
      { pipeBytes: 64 }
    ),
    host: opening((link, host) =>
      Effect.andThen(talk(link, 2, 100), Effect.andThen(host.reach("talked"), close(link, host)))
    ),
    reaches: ["talked", "Code eof"]
  })),
  ...ofBoth("an agent that closes its input and talks on", (backend) => ({
    machine: machine(backend, {
      program: (agent) =>
        Effect.andThen(agent.closeStdin, Effect.forever(Effect.andThen(agent.send({}), Effect.sleep(200)))),
      habits: { says: [{ afterMs: 1, to: "stderr", text: "no more\n" }] }
    }),
    host: opening((link, host) =>
      Effect.gen(function* () {
        yield* link.pull
        yield* host.tries(link.write(frame(1)))
        yield* link.pull
      })
    ),
    reaches: ["StdinClosed", "Signal eof SIGTERM"]
  })),
  ...ofBoth("a process that cannot be killed", (backend) => ({
    machine: machine(backend, {
      habits: { ...stubborn, onBirth: { forks: [tool({ ...stubborn, killMs: Infinity })] } }
    }),
    host: opening(close),
    reaches: ["Signal eof SIGTERM SIGKILL survivors"]
  })),
  ...ofBoth("an agent that cannot be killed", (backend) => ({
    machine: machine(backend, { habits: { ...stubborn, killMs: Infinity } }),
    host: opening(close),
    reaches: ["Unknown eof SIGTERM SIGKILL survivors"]
  })),
  ...ofBoth("processes that take their time to be killed", (backend) => ({
    machine: machine(backend, {
      habits: { ...stubborn, killMs: 300, onBirth: { forks: [tool({ ...stubborn, killMs: 1_500 })] } }
    }),
    host: opening(close),
    reaches: ["Signal eof SIGTERM SIGKILL"]
  })),
  ...ofBoth("an agent without its marker", (backend) => ({
    machine: machine(backend, { habits: { ...deafToEof, dropsMarker: true } }),
    host: opening(close),
    reaches: ["Signal eof SIGTERM"]
  })),
  "a child that drops its marker (marked)": {
    machine: machine("marked", { habits: { onBirth: { forks: [tool({ ...stubborn, dropsMarker: true })] } } }),
    host: opening(close),
    reaches: ["Code eof", "escaped"],
    states: escaped
  },
  "a child that drops its marker (namespace)": {
    machine: machine("namespace", { habits: { onBirth: { forks: [tool({ ...stubborn, dropsMarker: true })] } } }),
    host: opening(close),
    reaches: ["Code eof SIGTERM SIGKILL"],
    violations: escaped
  },
  ...ofBoth("a launch that is refused, and one after it", (backend) => ({
    machine: machine(backend, {}, { launch: (_, n) => (n === 0 ? { program: echo } : { refused: "not there" }) }),
    host: (host) =>
      Effect.gen(function* () {
        const link = yield* host.open()
        yield* host.tries(host.open())
        yield* talk(link, 1)
      }),
    reaches: ["LaunchFailed", "Code eof"]
  })),
  "a backend that is not there": {
    machine: machine("marked", { program: echo }),
    host: (host) => host.tries(host.open({ backend: "namespace" })),
    reaches: ["BackendUnavailable"]
  },
  "two launches of two backends, one killed": {
    machine: {
      ...machine("marked", { program: echo, habits: { onBirth: { forks: [tool(stubborn)] } } }),
      backends: ["marked", "namespace"]
    },
    host: (host) =>
      Effect.gen(function* () {
        const one = yield* host.open({ backend: "marked", graces: { eofMs: 10, termMs: 10 } })
        const other = yield* host.open({ backend: "namespace" })
        yield* Effect.all([one.close, Effect.andThen(talk(other, 2), other.kill)], { concurrency: "unbounded" })
      }),
    reaches: ["Code eof SIGTERM SIGKILL", "Signal SIGKILL"]
  },
  "what a host left behind that is gone": {
    machine: machine(
      "marked",
      { program: echo },
      {
        pidsMax: 24,
        ledgers: [
          { host: "gone", launches: [stubborn, { onBirth: { forks: [tool(stubborn)] } }, { onBirth: { exitMs: 1 } }] },
          { host: "alive", launches: [stubborn] },
          { host: "elsewhere", launches: [stubborn] },
          { host: "gone", launches: [] }
        ]
      }
    ),
    host: (host) =>
      Effect.gen(function* () {
        yield* talk(yield* host.open(), 1)
        yield* Effect.sleep(5_000)
        yield* host.reach(host.os.ledger().foreign.join())
      }),
    reaches: ["hosts/1,hosts/2"],
    violations: othersLive
  },
  "what a host left behind that cannot be killed": {
    machine: machine(
      "marked",
      {},
      {
        ledgers: [{ host: "gone", launches: [{ ...stubborn, killMs: Infinity }, stubborn] }]
      }
    ),
    host: (host) =>
      Effect.gen(function* () {
        yield* Effect.sleep(10_000)
        yield* host.reach(host.os.ledger().foreign.join())
      }),
    reaches: ["hosts/0"]
  }
}

/** What the marker does not show lives on; in a namespace nothing does. What was not proven gone is still in the ledger. */
function escaped({ ledger, processes }: ProcessHost["os"]): ReadonlyArray<string> {
  const { own } = ledger()
  const lives = processes.some(
    ({ launch, role, state }) => role === "agent" && state === "running" && !own.some((marker) => marker === launch)
  )
  return lives ? ["escaped"] : []
}

/** What belongs to hosts that are not gone lives on. */
function othersLive({ isOurs, processes }: ProcessHost["os"]): ReadonlyArray<string> {
  return processes
    .filter((process) => process.role === "agent" && !isOurs(process) && process.state !== "running")
    .map(({ identity }) => `${identity.pid} of another host has ended`)
}
