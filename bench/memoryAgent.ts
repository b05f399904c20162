/** An agent in this process that answers each prompt with the same bytes from memory: nothing but our own work is measured. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentLinks, type AgentLink, type CleanupReport } from "../src/services/AgentLink.ts"

export const memorySessionId = "0f2c1a9e-5b7d-4c3e-8a6f-d1e2b3c4a5f6"

const report: CleanupReport = {
  exit: { _tag: "Code", code: 0 },
  steps: ["eof"],
  proof: "in-process",
  processesSeen: 0,
  survivors: []
}

/** `chunks` come out after each prompt, and its response behind them. */
export const memoryAgent = (chunks: ReadonlyArray<Uint8Array>): Layer.Layer<AgentLinks> =>
  Layer.succeed(AgentLinks, AgentLinks.of({ open: () => Effect.sync(() => makeLink(chunks)) }))

const makeLink = (chunks: ReadonlyArray<Uint8Array>): AgentLink => {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  let output: Array<Uint8Array> = []
  let next = 0
  let waiting: (() => void) | undefined

  const send = (pieces: ReadonlyArray<Uint8Array>) => {
    output = next === output.length ? [...pieces] : [...output.slice(next), ...pieces]
    next = 0
    const wake = waiting
    waiting = undefined
    wake?.()
  }
  const respond = (id: unknown, result: unknown) =>
    encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`)
  const answer = (frame: { readonly id?: unknown; readonly method?: unknown }) => {
    if (frame.method === "initialize") send([respond(frame.id, { protocolVersion: 1, agentCapabilities: {} })])
    if (frame.method === "session/new") send([respond(frame.id, { sessionId: memorySessionId })])
    if (frame.method === "session/prompt") send([...chunks, respond(frame.id, { stopReason: "end_turn" })])
  }
  return {
    pull: Effect.suspend(() =>
      next < output.length
        ? Effect.sync(() => output[next++])
        : Effect.callback<Uint8Array | undefined>((resume) => {
            waiting = () => resume(Effect.sync(() => output[next++]))
            return Effect.sync(() => {
              waiting = undefined
            })
          })
    ),
    write: (bytes) => Effect.sync(() => answer(JSON.parse(decoder.decode(bytes)))),
    end: Effect.void,
    exit: Effect.never,
    identity: undefined,
    backend: "in-process",
    stderrTail: () => [],
    close: Effect.succeed(report),
    kill: Effect.succeed(report)
  }
}
