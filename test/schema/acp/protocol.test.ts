import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { AGENT_METHODS, CLIENT_METHODS, PROTOCOL_VERSION } from "@agentclientprotocol/sdk"
import {
  agentMethods,
  clientMethods,
  InitializeResult,
  NewSessionResult,
  PromptResult,
  protocolVersion,
  RestoredSessionResult,
  sessionUpdateOf
} from "../../../src/schema/acp/protocol.ts"

const initialized = Schema.decodeUnknownSync(InitializeResult)
const newSession = Schema.decodeUnknownSync(NewSessionResult)
const restored = Schema.decodeUnknownSync(RestoredSessionResult)
const prompted = Schema.decodeUnknownSync(PromptResult)

const nothing = {
  loadSession: false,
  promptCapabilities: { image: false, audio: false, embeddedContext: false },
  mcpCapabilities: { http: false, sse: false },
  sessionCapabilities: {
    list: false,
    resume: false,
    close: false,
    delete: false,
    fork: false,
    additionalDirectories: false
  },
  auth: { logout: false }
}

describe("the words of the protocol", () => {
  it("are those of the SDK", () => {
    expect(protocolVersion).toBe(PROTOCOL_VERSION)
    expect(Object.values(AGENT_METHODS)).toEqual(expect.arrayContaining(Object.values(agentMethods)))
    expect(Object.values(CLIENT_METHODS)).toEqual(expect.arrayContaining(Object.values(clientMethods)))
  })
})

describe("InitializeResult", () => {
  it("reads what an agent advertises", () => {
    expect(
      initialized({
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true, acp: true },
          sessionCapabilities: { list: {}, close: { anything: 1 }, fork: null },
          auth: { logout: {} },
          _meta: { vendor: { queueing: true } }
        },
        agentInfo: { name: "agent", version: "1.2.3" },
        authMethods: [{ id: "login", name: "Log in", description: null, type: "env_var", vars: [] }],
        steering: {}
      })
    ).toStrictEqual({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { ...nothing.sessionCapabilities, list: true, close: true },
        auth: { logout: true },
        _meta: { vendor: { queueing: true } }
      },
      agentInfo: { name: "agent", version: "1.2.3" },
      authMethods: [{ id: "login", name: "Log in", type: "env_var" }]
    })
  })

  it("takes whatever is missing or misshapen as not advertised", () => {
    for (const agentCapabilities of [
      undefined,
      null,
      [],
      "all",
      { loadSession: "yes", promptCapabilities: null, auth: 1 }
    ]) {
      expect(initialized({ protocolVersion: 1, agentCapabilities })).toStrictEqual({
        protocolVersion: 1,
        agentCapabilities: nothing,
        authMethods: []
      })
    }
    expect(
      initialized({ protocolVersion: 1, agentInfo: "me", authMethods: [null, { id: "a" }, { id: 5 }] })
    ).toMatchObject({
      authMethods: [{ id: "a" }]
    })
  })

  it("is refused without a version", () => {
    for (const result of [null, {}, { protocolVersion: null }, { protocolVersion: "1" }]) {
      expect(() => initialized(result)).toThrow()
    }
  })
})

describe("NewSessionResult", () => {
  it("reads a session's id, modes and settings, and passes models on", () => {
    const models = { currentModelId: "m", availableModels: [{ modelId: "m", name: "M" }] }
    const options = [{ group: "g", name: "G", options: [{ value: "a", name: "A" }] }]
    expect(
      newSession({
        sessionId: "s1",
        modes: {
          currentModeId: "plan",
          availableModes: [{ id: "plan", name: "Plan", description: null }, { name: "no id" }]
        },
        models,
        configOptions: [
          { id: "model", name: "Model", category: "model", type: "select", currentValue: "a", options },
          { id: "x", category: 5, type: "slider", currentValue: 3 },
          "nonsense"
        ]
      })
    ).toStrictEqual({
      sessionId: "s1",
      modes: { currentModeId: "plan", availableModes: [{ id: "plan", name: "Plan" }] },
      models,
      configOptions: [
        { id: "model", name: "Model", category: "model", type: "select", currentValue: "a", options },
        { id: "x", type: "slider", currentValue: 3 }
      ]
    })
  })

  it("needs nothing but the id, and refuses one of the wrong type", () => {
    expect(newSession({ sessionId: "s1", modes: { availableModes: [] }, configOptions: null })).toStrictEqual({
      sessionId: "s1",
      configOptions: []
    })
    for (const result of [null, {}, { sessionId: 42 }, { sessionId: null }]) expect(() => newSession(result)).toThrow()
  })
})

describe("RestoredSessionResult", () => {
  it("may be null or empty", () => {
    for (const result of [null, {}, { sessionId: "s1" }]) expect(restored(result)).toStrictEqual({ configOptions: [] })
    expect(restored({ modes: { currentModeId: "a", availableModes: [] } })).toStrictEqual({
      modes: { currentModeId: "a", availableModes: [] },
      configOptions: []
    })
  })
})

describe("PromptResult", () => {
  it("keeps an unknown stop reason, and leaves unknown usage out", () => {
    expect(
      prompted({ stopReason: "weird", usage: { inputTokens: 0, outputTokens: null, totalTokens: "5" } })
    ).toStrictEqual({
      stopReason: "weird",
      usage: { inputTokens: 0 }
    })
    expect(prompted({ stopReason: "end_turn", usage: null, _meta: { a: 1 } })).toStrictEqual({
      stopReason: "end_turn",
      _meta: { a: 1 }
    })
  })

  it("is refused without a stop reason", () => {
    for (const result of [null, {}, { stopReason: null }]) expect(() => prompted(result)).toThrow()
  })
})

describe("sessionUpdateOf", () => {
  it("gives the params themselves, whatever the kind of the update", () => {
    const params = { sessionId: "s", update: { sessionUpdate: "brand_new", used: null }, _meta: {} }
    expect(sessionUpdateOf(params)).toBe(params)
  })

  it("gives nothing when the session or the kind is not named", () => {
    for (const params of [
      undefined,
      null,
      5,
      [],
      {},
      { sessionId: "s" },
      { sessionId: 1, update: { sessionUpdate: "x" } },
      { sessionId: "s", update: null },
      { sessionId: "s", update: "x" },
      { sessionId: "s", update: { sessionUpdate: 5 } },
      { update: { sessionUpdate: "x" } }
    ]) {
      expect(sessionUpdateOf(params)).toBeUndefined()
    }
  })
})
