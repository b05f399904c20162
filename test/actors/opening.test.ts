/** Opening a session: what can go wrong in each phase, the error that tells it, and that nothing is left of it. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { Connections } from "../../src/actors/Connections.ts"
import { Runner } from "../../src/actors/Runner.ts"
import { limits } from "../../src/schema/limits.ts"
import type { ProcessExit } from "../../src/services/Os.ts"
import type { FakeAgent, FakeProgram, Json } from "../../src/testing/FakeLinks.ts"
import { agentSession, fakeProvider, initializeResult, makeHost, openOptions, respond, text } from "./host.ts"
import {
  answers,
  cancelled,
  deltas,
  endTurn,
  isPrompt,
  record,
  settle,
  until,
  untilWritten,
  valueAt
} from "./observe.ts"

const newSession = { sessionId: agentSession }

/** Answers one request after another with these results; the rest is silence. */
const answering = (...results: ReadonlyArray<unknown>): FakeProgram =>
  Effect.fnUntraced(function* (agent) {
    for (const result of results) yield* agent.send(respond(yield* agent.receive, result))
  })

/** Answers so many requests as a good agent would, then does this with the next one. */
const goodUntil = (phase: number, act: (agent: FakeAgent, request: Json) => Effect.Effect<void>): FakeProgram =>
  Effect.fnUntraced(function* (agent) {
    yield* answering(...[initializeResult, modes, {}].slice(0, phase))(agent)
    yield* act(agent, yield* agent.receive)
  })

const modes = {
  ...newSession,
  modes: { currentModeId: "code", availableModes: [{ id: "code" }, { id: "https://agent.example/modes#plan" }] },
  configOptions: [
    { id: "thinking", category: "thought_level", type: "select", currentValue: "low", options: [{ value: "fast" }] },
    {
      id: "m",
      category: "model",
      type: "select",
      currentValue: "small",
      options: [{ value: "small" }, { group: "others", options: [{ value: "large" }] }]
    }
  ]
}

const open = (options: Partial<typeof openOptions> = {}) =>
  Effect.flatMap(Runner, (runner) => runner.open({ ...openOptions, ...options }))

/** Nothing runs, nothing is held, and every agent that was started has been ended. */
const nothingLeft = (agents: ReadonlyArray<FakeAgent>) =>
  Effect.gen(function* () {
    expect(agents.every((agent) => agent.isEnded())).toBe(true)
    expect(yield* (yield* Runner).tree).toEqual([])
    expect((yield* Connections).live()).toBe(0)
  })

/** Opens, which fails: the error, told when nothing is left any more. */
const failsToOpen = (
  program: FakeProgram,
  options: Partial<typeof openOptions> = {},
  meanwhile: Effect.Effect<unknown> = Effect.void
) => {
  const host = makeHost(program)
  return Effect.gen(function* () {
    const opening = yield* Effect.forkChild(Effect.tapError(open(options), () => nothingLeft(host.agents)))
    yield* until("the agent is started", () => host.agents.length > 0 || opening.pollUnsafe() !== undefined)
    yield* settle
    yield* meanwhile
    const error = yield* Effect.flip(Fiber.join(opening))
    return { error, agent: host.agents[0] }
  }).pipe(Effect.scoped, Effect.provide(host.layer))
}

const opens = (
  program: FakeProgram,
  options: Partial<typeof openOptions>,
  meanwhile: Effect.Effect<unknown> = Effect.void
) => {
  const host = makeHost(program)
  return Effect.gen(function* () {
    const opening = yield* Effect.forkScoped(open(options))
    yield* settle
    yield* meanwhile
    const session = yield* Fiber.join(opening)
    return { session, agent: host.agents[0]! }
  }).pipe(Effect.scoped, Effect.provide(host.layer))
}

describe("initialize", () => {
  it.effect("that is not answered in time fails the open, with what was seen of the agent", () =>
    Effect.gen(function* () {
      const { error } = yield* failsToOpen(() => Effect.never, {}, TestClock.adjust(limits.initializeMs))
      expect(error).toMatchObject({ _tag: "HandshakeTimeout", method: "initialize", framesSeen: 0 })
    })
  )

  it.effect("is waited for up to its deadline, whatever else the agent sends", () =>
    Effect.gen(function* () {
      const late: FakeProgram = Effect.fnUntraced(function* (agent) {
        const request = yield* agent.receive
        yield* agent.send({ method: "x/hello" }, text("early"))
        yield* Effect.sleep(limits.initializeMs - 1)
        yield* agent.send(respond(request, initializeResult))
        yield* answering(newSession)(agent)
      })
      const { session } = yield* opens(late, {}, TestClock.adjust(limits.initializeMs - 1))
      expect(session.agent.agentInfo?.name).toBe("fake")
    })
  )

  it.effect("offers neither files nor terminals, and asks for our version", () =>
    Effect.gen(function* () {
      const { agent } = yield* opens(answering(initializeResult, newSession), {})
      expect(agent.written[0]).toMatchObject({
        id: 0,
        method: "initialize",
        params: {
          protocolVersion: 1,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
        }
      })
    })
  )

  const wrong: Record<string, readonly [answer: object, error: object]> = {
    "with another protocol version": [
      { result: { ...initializeResult, protocolVersion: 2 } },
      { _tag: "ProtocolVersionUnsupported", requested: 1, offered: "2" }
    ],
    "with an error": [
      { error: { code: -32603, message: "no", data: { why: 1 } } },
      { _tag: "AgentError", method: "initialize", rpcCode: -32603, rpcMessage: "no", data: { why: 1 } }
    ],
    "without a version": [{ result: {} }, { _tag: "AnswerMalformed", method: "initialize" }],
    "with neither result nor error": [{}, { _tag: "AnswerMalformed", method: "initialize", issue: "empty" }]
  }
  for (const [how, [answer, expected]] of Object.entries(wrong)) {
    it.effect(`answered ${how} fails the open`, () =>
      Effect.gen(function* () {
        const { error } = yield* failsToOpen(goodUntil(0, (agent, { id }) => agent.send({ id, ...answer })))
        expect(error).toMatchObject(expected)
      })
    )
  }
})

describe("session/new", () => {
  it.effect("that asks for a login fails with the ways that the agent names", () =>
    Effect.gen(function* () {
      const authMethods = [{ id: "api-key" }, { id: "login", name: "Log in" }]
      const { error } = yield* failsToOpen(
        Effect.fnUntraced(function* (agent) {
          yield* answering({ ...initializeResult, authMethods })(agent)
          yield* agent.send({ id: (yield* agent.receive)["id"], error: { code: -32000, message: "login" } })
        })
      )
      expect(error).toMatchObject({ _tag: "AuthRequired", agent: "fake", methods: ["api-key", "login"] })
    })
  )

  it.effect("answered with another error, or without a session id, fails the open", () =>
    Effect.gen(function* () {
      const refused = yield* failsToOpen(
        goodUntil(1, (agent, { id }) => agent.send({ id, error: { code: -32603, message: "No models available" } }))
      )
      expect(refused.error).toMatchObject({ _tag: "AgentError", rpcMessage: "No models available" })
      const malformed = yield* failsToOpen(goodUntil(1, (agent, request) => agent.send(respond(request, {}))))
      expect(malformed.error).toMatchObject({ _tag: "AnswerMalformed", method: "session/new" })
    })
  )

  it.effect("fails once no frame came for the quiet time, and names the MCP servers that it waits for", () =>
    Effect.gen(function* () {
      const { error } = yield* failsToOpen(
        answering(initializeResult),
        { mcpServers: [{ name: "slow", command: "/bin/slow", args: [], env: [] }] },
        TestClock.adjust(limits.sessionSetupQuietMs)
      )
      expect(error).toMatchObject({
        _tag: "SessionSetupTimeout",
        method: "session/new",
        quietMs: limits.sessionSetupQuietMs,
        mcpServers: ["slow"]
      })
    })
  )

  it.effect("may take for ever while frames come; noise is none", () =>
    Effect.gen(function* () {
      const nearlyMs = limits.sessionSetupQuietMs - 1
      const slow = (sign: (agent: FakeAgent) => Effect.Effect<void>) =>
        goodUntil(
          1,
          Effect.fnUntraced(function* (agent, request) {
            for (let n = 0; n < 5; n++) {
              yield* Effect.sleep(nearlyMs)
              yield* sign(agent)
            }
            yield* agent.send(respond(request, newSession))
          })
        )
      const time = TestClock.adjust(5 * nearlyMs)
      const { session } = yield* opens(
        slow((agent) => agent.send({ method: "x/starting" })),
        {},
        time
      )
      expect(session.settings.sessionId).toBe(agentSession)
      const noise = new TextEncoder().encode("starting\n")
      const { error } = yield* failsToOpen(
        slow((agent) => agent.sendBytes(noise)),
        {},
        time
      )
      expect(error).toMatchObject({ _tag: "SessionSetupTimeout" })
    })
  )

  it.effect("is not written when an MCP server is not valid, or of a kind that the agent does not take", () =>
    Effect.gen(function* () {
      const server = { type: "http", name: "web", url: "https://mcp.example/", headers: [] }
      const { agent, error } = yield* failsToOpen(answering(initializeResult), { mcpServers: [server] })
      expect(error).toMatchObject({ _tag: "McpServerRefused", server: "web" })
      expect(agent?.written.map((frame) => frame["method"])).toEqual(["initialize"])
    })
  )
})

describe("the mode and the model that are asked for", () => {
  const program = answering(initializeResult, modes, {}, {})
  const calls = (agent: FakeAgent) => agent.written.slice(2).map(({ method, params }) => ({ method, params }))

  it.effect("are set, a mode by its id or the end of it", () =>
    Effect.gen(function* () {
      const { agent } = yield* opens(program, { mode: "plan", model: "large" })
      expect(calls(agent)).toEqual([
        {
          method: "session/set_mode",
          params: { sessionId: agentSession, modeId: "https://agent.example/modes#plan" }
        },
        { method: "session/set_config_option", params: { sessionId: agentSession, configId: "m", value: "large" } }
      ])
    })
  )

  it.effect("are not set when the model is the current one", () =>
    Effect.gen(function* () {
      const { agent } = yield* opens(program, { model: "small" })
      expect(calls(agent)).toEqual([])
    })
  )

  const refused = [
    {
      options: { mode: "yolo" },
      error: { setting: "mode", value: "yolo", available: ["code", "https://agent.example/modes#plan"] }
    },
    { options: { model: "fast" }, error: { setting: "model", value: "fast", available: ["small", "large"] } }
  ]
  for (const { options, error } of refused) {
    it.effect(`fail the open with what there is: ${error.setting}`, () =>
      Effect.gen(function* () {
        const failed = yield* failsToOpen(program, options)
        expect(failed.error).toMatchObject({ _tag: "SettingRefused", ...error })
        expect(calls(failed.agent!)).toEqual([])
      })
    )
  }

  it.effect("fail the open with nothing to choose from, when the agent names none", () =>
    Effect.gen(function* () {
      const bare = answering(initializeResult, newSession)
      const mode = yield* failsToOpen(bare, { mode: "plan" })
      expect(mode.error).toMatchObject({ _tag: "SettingRefused", setting: "mode", available: [] })
      const model = yield* failsToOpen(bare, { model: "large" })
      expect(model.error).toMatchObject({ _tag: "SettingRefused", setting: "model", available: [] })
    })
  )

  it.effect("fail the open when the agent refuses, or says nothing for the quiet time", () =>
    Effect.gen(function* () {
      const error = { code: -32602, message: "not now" }
      const refused = yield* failsToOpen(
        goodUntil(2, (agent, { id }) => agent.send({ id, error })),
        { mode: "code" }
      )
      expect(refused.error).toMatchObject({ _tag: "AgentError", method: "session/set_mode", rpcCode: -32602 })
      const silent = yield* failsToOpen(
        goodUntil(2, () => Effect.void),
        { mode: "code" },
        TestClock.adjust(limits.sessionSetupQuietMs)
      )
      expect(silent.error).toMatchObject({ _tag: "SessionSetupTimeout", method: "session/set_mode" })
    })
  )
})

describe("in every phase of an open", () => {
  const phases = ["initialize", "session/new", "session/set_mode", "session/set_config_option"]
  const asked = { mode: "code", model: "large" }
  const exits: ReadonlyArray<ProcessExit> = [
    { _tag: "Code", code: 0 },
    { _tag: "Code", code: 1 },
    { _tag: "Signal", signal: "SIGKILL", inferred: false }
  ]

  for (const [phase, method] of phases.entries()) {
    it.effect(`the death of the agent fails it with its exit: ${method}`, () =>
      Effect.gen(function* () {
        for (const exit of exits) {
          const { agent, error } = yield* failsToOpen(
            goodUntil(phase, (agent) => agent.exit(exit)),
            asked
          )
          expect(error).toMatchObject({ _tag: "ConnectionClosed", reason: "exited", exit })
          expect(agent?.written.map((frame) => frame["method"])).toEqual(phases.slice(0, phase + 1))
        }
      })
    )

    it.effect(`an agent that closes its stdin and lives on fails it: before ${method}`, () =>
      Effect.gen(function* () {
        const { error } = yield* failsToOpen(
          phase === 0
            ? (agent) => agent.closeStdin
            : goodUntil(phase - 1, (agent, request) =>
                Effect.andThen(agent.closeStdin, agent.send(respond(request, phase === 1 ? initializeResult : modes)))
              ),
          asked,
          // What its exit may take to be known.
          TestClock.adjust(limits.drainAfterExitMs)
        )
        expect(error).toMatchObject({ _tag: "ConnectionClosed", reason: "stdin_closed" })
      })
    )

    it.effect(`an agent that does not read fails it by the write deadline: before ${method}`, () =>
      Effect.gen(function* () {
        const { error } = yield* failsToOpen(
          phase === 0
            ? (agent) => agent.stallStdin
            : goodUntil(phase - 1, (agent, request) =>
                Effect.andThen(agent.stallStdin, agent.send(respond(request, phase === 1 ? initializeResult : modes)))
              ),
          asked,
          TestClock.adjust(limits.writeMs)
        )
        expect(error).toMatchObject({ _tag: "ConnectionClosed", reason: "write_timed_out" })
      })
    )

    it.effect(`an interruption leaves nothing: ${method}`, () => {
      const host = makeHost(goodUntil(phase, () => Effect.never))
      return Effect.gen(function* () {
        const opening = yield* Effect.forkChild(open(asked))
        yield* until(method, () => host.agents[0]?.written.at(-1)?.["method"] === method)
        yield* Fiber.interrupt(opening)
        yield* nothingLeft(host.agents)
      }).pipe(Effect.scoped, Effect.provide(host.layer))
    })
  }

  it.effect("a command that is not found is told as such, if it never spoke", () =>
    Effect.gen(function* () {
      const gone: ProcessExit = { _tag: "Code", code: 127 }
      const { error } = yield* failsToOpen((agent) => agent.exit(gone))
      expect(error).toMatchObject({
        _tag: "LaunchFailed",
        command: "fake",
        reason: "the command, or what it starts, was not found",
        exit: gone
      })
      const denied = yield* failsToOpen((agent) => agent.exit({ _tag: "Code", code: 126 }))
      expect(denied.error).toMatchObject({ _tag: "LaunchFailed", exit: { code: 126 } })
      const spoken = yield* failsToOpen((agent) => Effect.andThen(agent.send({ method: "x/hi" }), agent.exit(gone)))
      expect(spoken.error).toMatchObject({ _tag: "ConnectionClosed", exit: gone })
    })
  )

  it.effect("a policy that the agent cannot keep fails it before an agent exists", () =>
    Effect.gen(function* () {
      const silent = { ...fakeProvider.traits.gate, execute: "silent" as const }
      const provider = { ...fakeProvider, traits: { ...fakeProvider.traits, gate: silent } }
      const { agent, error } = yield* failsToOpen(answering(), { provider, policy: "deny-all" })
      expect(error).toMatchObject({ _tag: "PolicyNotEnforceable", policy: "deny-all", effects: ["execute"] })
      expect(agent).toBeUndefined()
    })
  )

  it.effect("a second open succeeds where the first one failed", () => {
    let starts = 0
    const host = makeHost((agent) => (starts++ === 0 ? Effect.never : answering(initializeResult, newSession)(agent)))
    return Effect.gen(function* () {
      const first = yield* Effect.forkChild(Effect.flip(open()))
      yield* settle
      yield* TestClock.adjust(limits.initializeMs)
      expect(yield* Fiber.join(first)).toMatchObject({ _tag: "HandshakeTimeout" })
      expect((yield* open()).settings.sessionId).toBe(agentSession)
      expect((yield* Connections).live()).toBe(1)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})

describe("what comes before the session is known", () => {
  const early = (n: number, bytes = 0): Json => ({
    method: "session/update",
    params: { sessionId: agentSession, update: { sessionUpdate: "early", n, pad: "x".repeat(bytes) } }
  })

  /** The numbers of the early updates that were told, how many were said to be missing, and all notices. */
  const toldOf = (before: (agent: FakeAgent) => Effect.Effect<void>) => {
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* agent.send(respond(yield* agent.receive, initializeResult))
        const request = yield* agent.receive
        yield* before(agent)
        yield* agent.send(respond(request, newSession), early(-1))
      })
    )
    return Effect.gen(function* () {
      const seen = yield* record
      yield* open()
      yield* until("the last one", () => numbers().at(-1) === -1)
      function numbers() {
        return seen
          .ofType("provider.notice.recorded")
          .flatMap(({ debug }) => (debug === undefined ? [] : [valueAt(debug["native"], "n")]))
      }
      const dropped = seen.notice("early_updates_dropped")
      const summary = dropped === undefined ? "" : String(valueAt(dropped.payload, "summary"))
      return { numbers: numbers(), dropped: Number.parseInt(summary, 10) }
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  }
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
  const max = limits.unknownSessionFramesMax

  it.effect("is kept in order up to the bound of frames, and told before what comes after", () =>
    Effect.gen(function* () {
      const told = yield* toldOf((agent) => agent.send(...upTo(max).map((n) => early(n))))
      expect(told.numbers).toEqual([...upTo(max), -1])
      expect(told.dropped).toBeNaN()
    })
  )

  it.effect("beyond the bound of frames is left out, counted, and said", () =>
    Effect.gen(function* () {
      const told = yield* toldOf((agent) => agent.send(...upTo(max + 2).map((n) => early(n))))
      expect(told.numbers).toEqual([...upTo(max), -1])
      expect(told.dropped).toBe(2)
    })
  )

  it.effect("is kept up to the bound of bytes; one byte more is left out", () =>
    Effect.gen(function* () {
      const bare = JSON.stringify({ jsonrpc: "2.0", ...early(0) }).length
      const half = limits.unknownSessionBytesMax / 2 - bare
      const fits = yield* toldOf((agent) => agent.send(early(0, half), early(1, half)))
      expect(fits).toEqual({ numbers: [0, 1, -1], dropped: Number.NaN })
      const past = yield* toldOf((agent) => agent.send(early(0, half), early(1, half + 1)))
      expect(past).toEqual({ numbers: [0, -1], dropped: 1 })
    })
  )

  it.effect("also before initialize is answered, is kept up to the bound: an agent can flood nobody there", () => {
    const flood = 5_000
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        const request = yield* agent.receive
        for (let n = 0; n < flood; n++) yield* agent.send(early(n))
        yield* agent.send({ id: "p", method: "session/request_permission", params: {} })
        yield* agent.receive
        yield* agent.send(respond(request, initializeResult))
        yield* answering(newSession)(agent)
      })
    )
    return Effect.gen(function* () {
      const seen = yield* record
      yield* open()
      yield* seen.untilNotice("early_frames_dropped")
      yield* until("early", () => seen.notices().includes("late_update") || seen.notices().includes("unknown_update"))
      expect(answers(host.agents[0]!)).toEqual([{ id: "p", result: cancelled }])
      expect(seen.notices().filter((notice) => notice === "unknown_update" || notice === "late_update")).toHaveLength(
        max
      )
      expect(String(valueAt(seen.notice("early_frames_dropped")?.payload, "summary"))).toContain(`${flood + 1 - max}`)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("of a session that turns out to be another one is told as unknown", () => {
    const stray = { method: "session/update", params: { sessionId: "other", update: { sessionUpdate: "plan" } } }
    const host = makeHost(
      Effect.fnUntraced(function* (agent) {
        yield* answering(initializeResult)(agent)
        const request = yield* agent.receive
        yield* agent.send(stray, respond(request, newSession))
        const prompt = yield* agent.receive
        yield* agent.send(text("mine"), endTurn(prompt))
      })
    )
    return Effect.gen(function* () {
      const seen = yield* record
      const session = yield* open()
      const prompt = yield* session.prompt("go", { events: "discard" })
      expect(yield* prompt.outcome).toMatchObject({ _tag: "Completed" })
      expect(seen.notices()).toEqual(["unknown_session"])
      expect(deltas(seen.events)).toEqual(["mine"])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})

describe("what an agent writes between its frames", () => {
  it.effect("is counted and told once, at the end, without its secrets", () => {
    const host = makeHost(answering(initializeResult, newSession))
    return Effect.gen(function* () {
      const seen = yield* record
      const [session, silent] = [yield* open(), yield* open()]
      const noise = "banner\nAuthorization: Bearer abcdefghijklmnop\n"
      yield* host.agents[0]!.sendBytes(new TextEncoder().encode(noise))
      yield* settle
      expect(seen.ofType("provider.notice.recorded")).toEqual([])
      yield* session.close
      yield* silent.close
      yield* seen.untilEvent("session.closed")
      const notices = seen.ofType("provider.notice.recorded")
      expect(notices).toMatchObject([
        { normalizedSessionId: session.sessionId, payload: { category: "output_noise", severity: "info" } }
      ])
      expect(valueAt(notices[0]!.payload, "summary")).toBe("2 lines (44 bytes) of the agent's output were no frames")
      expect(valueAt(notices[0]!.debug, "native", "samples")).toEqual(["banner", "Authorization: [REDACTED]"])
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})

describe("two sessions", () => {
  it.effect("share nothing: one dies, the other goes on and ends its turn", () => {
    const host = makeHost(answering(initializeResult, newSession))
    return Effect.gen(function* () {
      const seen = yield* record
      const [one, two] = [yield* open(), yield* open()]
      const [first, second] = host.agents
      const lost = yield* one.prompt("a", { events: "discard" })
      const kept = yield* two.prompt("b", { events: "discard" })
      yield* Effect.forEach([first!, second!], (agent) => untilWritten(agent, isPrompt))
      yield* first!.exit({ _tag: "Code", code: 3 })
      expect(yield* lost.outcome).toMatchObject({ _tag: "Failed", closeReason: "exited", exit: { code: 3 } })
      yield* seen.untilEvent("session.failed")
      expect((yield* Connections).live()).toBe(1)
      expect(yield* Effect.flip(one.prompt("again"))).toMatchObject({ _tag: "SessionClosed" })
      yield* second!.send(text("still here"), endTurn(second!.written.find(isPrompt)!))
      expect(yield* kept.outcome).toMatchObject({ _tag: "Completed" })
      expect(seen.ofType("session.failed").map((event) => event.normalizedSessionId)).toEqual([one.sessionId])
      expect(seen.ofType("harness.exited")).toMatchObject([
        { payload: { processExit: { exitCode: 3, success: false } } }
      ])
      expect(yield* one.close).toMatchObject({ survivors: [] })
      const third = yield* open()
      expect(third.sessionId).not.toBe(one.sessionId)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
