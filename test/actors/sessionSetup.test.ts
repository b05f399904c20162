import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Runner } from "../../src/actors/Runner.ts"
import { fakeProvider, handshake, makeHost, openOptions } from "./host.ts"

describe("the set-up of a session", () => {
  const provider = { ...fakeProvider, traits: { ...fakeProvider.traits, dropsStdioMcp: true } }
  const mcpServers = [{ name: "files", command: "mcp-files" }]

  it.effect("refuses an MCP server that the agent would drop in silence, before the agent hears of a session", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      const runner = yield* Runner
      const refused = yield* Effect.flip(runner.open({ ...openOptions, provider, mcpServers }))
      expect(refused).toMatchObject({ _tag: "McpServerRefused", server: "files" })
      expect(host.agents[0]?.written.map((frame) => frame["method"])).toEqual(["initialize"])
      expect(host.agents[0]?.isEnded()).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })

  it.effect("passes the same server to an agent that is not known to drop it", () => {
    const host = makeHost(handshake)
    return Effect.gen(function* () {
      yield* (yield* Runner).open({ ...openOptions, mcpServers })
      expect(host.agents[0]?.written[1]).toMatchObject({
        method: "session/new",
        params: { mcpServers: [{ name: "files", command: "mcp-files", args: [], env: [] }] }
      })
    }).pipe(Effect.scoped, Effect.provide(host.layer))
  })
})
