import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import * as ProcessLinks from "../../src/layers/process/ProcessLinks.ts"
import { AgentLinks } from "../../src/services/AgentLink.ts"
import * as Ids from "../../src/services/Ids.ts"
import { Os, type SpawnRequest } from "../../src/services/Os.ts"
import { type FakeOsScript, type FakeProgram, makeFakeLinks, makeFakeOs, run } from "../../src/testing/index.ts"

const request: SpawnRequest = { command: "agent", args: [], env: {}, cwd: "/", marker: "m", backend: "marked" }

/** What a use of the machine gives. */
const using = <A, E>(script: FakeOsScript, use: (os: Os["Service"]) => Effect.Effect<A, E>) => {
  const machine = makeFakeOs(script)
  const { exit } = run(Effect.provide(Effect.flatMap(Os, use), machine.layer), { timeProbability: 0 })
  if (typeof exit === "string" || Exit.isFailure(exit)) throw new Error(String(exit))
  return { machine, value: exit.value }
}

describe("the fake operating system", () => {
  it("runs the agent of the fake links, to the same answers", () => {
    const twice: FakeProgram = (agent) =>
      Effect.flatMap(agent.receive, (one) => Effect.andThen(agent.send(one), agent.send(one)))
    const answer = Effect.scoped(
      Effect.gen(function* () {
        const link = yield* (yield* AgentLinks).open({ command: "agent", args: [], env: {}, cwd: "/" })
        yield* link.write(new TextEncoder().encode('{"jsonrpc":"2.0","id":1}\n'))
        return [yield* link.pull, yield* link.pull].map((piece) => new TextDecoder().decode(piece))
      })
    )
    const processes = ProcessLinks.layer.pipe(
      Layer.provide(Layer.merge(makeFakeOs({ launch: () => ({ program: twice }) }).layer, Ids.layer))
    )
    const overProcesses = run(Effect.provide(answer, processes), { timeProbability: 0 }).exit
    expect(overProcesses).toEqual(run(Effect.provide(answer, makeFakeLinks(twice).layer), { timeProbability: 0 }).exit)
    expect(overProcesses).toMatchObject({ value: ['{"jsonrpc":"2.0","id":1}\n', '{"jsonrpc":"2.0","id":1}\n'] })
  })

  it("gives the number of a process that has ended to another, and signals neither by the old identity", () => {
    const { machine, value } = using({ launch: () => ({}), pidsMax: 1, strangers: 20 }, (os) =>
      Effect.gen(function* () {
        let launched = 0
        for (;;) {
          const process = yield* os.spawn({ ...request, marker: `m${launched++}` })
          yield* process.end
          yield* process.exit
          const now = yield* os.readIdentity(process.identity.pid)
          if (now !== undefined) return yield* os.signal(process.identity, "SIGKILL")
        }
      })
    )
    expect(value).toBe(false)
    expect(machine.processes.at(-1)).toMatchObject({ role: "stranger", state: "running" })
    expect(machine.signals).toMatchObject([{ signal: "SIGKILL", hit: undefined }])
  })

  it("completes a write that is larger than the pipe only when the agent reads", () => {
    const { value } = using({ launch: () => ({ program: (agent) => agent.stallStdin }), pipeBytes: 8 }, (os) =>
      Effect.gen(function* () {
        const process = yield* os.spawn(request)
        yield* Effect.sleep(1)
        const inTime = (bytes: number) =>
          Effect.map(Effect.timeoutOption(process.write(new Uint8Array(bytes)), 1_000), ({ _tag }) => _tag)
        return [yield* inTime(8), yield* inTime(1)]
      })
    )
    expect(value).toEqual(["Some", "None"])
  })

  it("fails a write once nobody reads, while the output goes on", () => {
    const program: FakeProgram = (agent) => Effect.andThen(agent.closeStdin, agent.send({ id: 1 }))
    const { value } = using({ launch: () => ({ program }) }, (os) =>
      Effect.gen(function* () {
        const process = yield* os.spawn(request)
        const said = yield* process.stdout
        return [said?.length, (yield* Effect.flip(process.write(new Uint8Array(1)))).reason]
      })
    )
    expect(value).toEqual([25, "EPIPE"])
  })

  it("ends an output only when everybody who holds it has ended", () => {
    const habits = { onBirth: { forks: [{ holds: ["stdout" as const], onBirth: { exitMs: 70 } }], exitMs: 10 } }
    const { value } = using({ launch: () => ({ habits }) }, (os) =>
      Effect.gen(function* () {
        const process = yield* os.spawn(request)
        yield* process.exit
        const exitedAtMs = yield* Clock.currentTimeMillis
        const piece = yield* process.stdout
        return [exitedAtMs, piece, yield* Clock.currentTimeMillis]
      })
    )
    expect(value).toEqual([10, undefined, 70])
  })

  it("shows what dropped its marker in a namespace only, and takes all of it with the anchor", () => {
    const habits = { onTerm: {}, onBirth: { forks: [{ dropsMarker: true, ownSession: true, onTerm: {} }] } }
    const look = (backend: "marked" | "namespace") =>
      using({ launch: () => ({ habits }) }, (os) =>
        Effect.gen(function* () {
          const process = yield* os.spawn({ ...request, backend })
          const seen = (yield* os.census("m")).length
          yield* os.signal(process.identity, "SIGKILL")
          return [seen, yield* process.exit]
        })
      )
    const marked = look("marked")
    const inside = look("namespace")
    expect(marked.value).toEqual([1, { _tag: "Signal", signal: "SIGKILL", inferred: false }])
    expect(inside.value).toEqual([2, { _tag: "Signal", signal: "SIGKILL", inferred: true }])
    expect(marked.machine.processes.filter(({ state }) => state === "running")).toHaveLength(1)
    expect(inside.machine.processes.filter(({ state }) => state === "running")).toHaveLength(0)
  })

  it("keeps a child that nobody waits for as a zombie, which no look shows", () => {
    const habits = { neverWaits: true, onBirth: { forks: [{ onBirth: { exitMs: 1 } }] } }
    const { machine, value } = using({ launch: () => ({ habits }) }, (os) =>
      Effect.gen(function* () {
        yield* os.spawn(request)
        yield* Effect.sleep(10)
        return (yield* os.census("m")).length
      })
    )
    expect(value).toBe(1)
    expect(machine.processes.map(({ state }) => state)).toEqual(["running", "zombie"])
  })
})
