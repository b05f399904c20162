/**
 * Agents in this process, driven by a test: bytes in, frames out, exits and faults at will. Everything above the link is the
 * production code.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { makeOrderedQueue } from "../actors/orderedQueue.ts"
import { StdinClosed } from "../schema/errors.ts"
import { type AgentLink, AgentLinks, type CleanupReport, type Launch } from "../services/AgentLink.ts"
import type { ProcessExit } from "../services/Os.ts"
import { encodeFrames, type Json, makeFrameReader, takeOne, takeOneOrEnd } from "./fakeFrames.ts"

export type { Json } from "./fakeFrames.ts"

export interface FakeAgent {
  readonly launch: Launch
  /** Frames that reached the agent's stdin, all of them, in order. */
  readonly written: ReadonlyArray<Json>
  /** The next frame that reached the agent's stdin and was not asked for yet. */
  readonly receive: Effect.Effect<Json>
  /** Frames on the agent's stdout, in one piece. Waits while the host does not read. */
  readonly send: (...frames: ReadonlyArray<Json>) => Effect.Effect<void>
  readonly sendBytes: (bytes: Uint8Array) => Effect.Effect<void>
  /** The process ends; its output does too. */
  readonly exit: (exit: ProcessExit) => Effect.Effect<void>
  /** Its stdin is closed while it lives on: writes fail. */
  readonly closeStdin: Effect.Effect<void>
  /** Its stdin is full: writes do not complete until `readStdin`. */
  readonly stallStdin: Effect.Effect<void>
  readonly readStdin: Effect.Effect<void>
  readonly isEnded: () => boolean
}

export type FakeProgram = (agent: FakeAgent) => Effect.Effect<void, never, Scope.Scope>

/** Every open runs `program` in the scope of the link. `agents` has them in the order of the opens. */
export const makeFakeLinks = (program: FakeProgram) => {
  const agents: Array<FakeAgent> = []
  const layer = Layer.succeed(
    AgentLinks,
    AgentLinks.of({
      open: Effect.fnUntraced(function* (launch) {
        const start = Effect.sync(() => {
          const made = makeFake(launch)
          agents.push(made.agent)
          return made
        })
        const { agent, link } = yield* Effect.acquireRelease(start, (made) => made.link.close)
        yield* Effect.forkScoped(program(agent))
        return link
      })
    })
  )
  return { layer, agents }
}

/** As a pipe: 64 KiB, or one larger piece. */
const pipe = () => makeOrderedQueue<Uint8Array>({ entriesMax: 1024, bytesMax: 64 * 1024 })

const makeFake = (launch: Launch): { agent: FakeAgent; link: AgentLink } => {
  const output = pipe()
  const received = makeOrderedQueue<Json>({ entriesMax: 1 << 20, bytesMax: Number.MAX_SAFE_INTEGER })
  const exited = Deferred.makeUnsafe<ProcessExit>()
  const written: Array<Json> = []
  const framesOf = makeFrameReader()
  let stdin: "open" | "closed" = "open"
  let stalled: Deferred.Deferred<void> | undefined
  let isEnded = false

  const end = (exit: ProcessExit) =>
    Effect.sync(() => {
      isEnded = true
      stdin = "closed"
      output.end()
      received.end()
      Deferred.doneUnsafe(exited, Exit.succeed(exit))
      if (stalled !== undefined) Deferred.doneUnsafe(stalled, Exit.void)
    })

  const write = Effect.fnUntraced(function* (bytes: Uint8Array) {
    if (stdin === "open" && stalled !== undefined) yield* Deferred.await(stalled)
    if (stdin !== "open") return yield* new StdinClosed({ reason: "EPIPE" })
    for (const frame of framesOf(bytes)) {
      written.push(frame)
      received.force(frame, 0)
    }
  })

  const close = Effect.gen(function* () {
    if (!isEnded) yield* end({ _tag: "Code", code: 0 })
    return {
      exit: yield* Deferred.await(exited),
      steps: ["eof"],
      proof: "in-process",
      processesSeen: 0,
      survivors: []
    } satisfies CleanupReport
  })

  const agent: FakeAgent = {
    launch,
    written,
    receive: takeOne(received),
    send: (...frames) => agent.sendBytes(encodeFrames(frames)),
    sendBytes: (bytes) => output.offerAll([bytes], (piece) => piece.length),
    exit: end,
    closeStdin: Effect.sync(() => void (stdin = "closed")),
    stallStdin: Effect.sync(() => void (stalled = Deferred.makeUnsafe())),
    readStdin: Effect.suspend(() => {
      const waiting = stalled
      stalled = undefined
      return waiting === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(waiting, undefined))
    }),
    isEnded: () => isEnded
  }
  const link: AgentLink = {
    pull: takeOneOrEnd(output),
    write,
    end: Effect.void,
    exit: Deferred.await(exited),
    identity: undefined,
    backend: "in-process",
    stderrTail: () => [],
    close,
    kill: close
  }
  return { agent, link }
}
