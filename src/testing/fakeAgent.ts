/** The program of an agent over the pipes of its simulated process: the same script as over fake links. */
import * as Effect from "effect/Effect"
import { makeOrderedQueue } from "../actors/orderedQueue.ts"
import type { SpawnRequest } from "../services/Os.ts"
import { encodeFrames, type Json, makeFrameReader, takeOne } from "./fakeFrames.ts"
import type { FakeAgent, FakeProgram } from "./FakeLinks.ts"
import type { FakePipes, FakeProcess, FakeProcesses } from "./fakeProcesses.ts"

interface AgentOptions {
  readonly request: SpawnRequest
  readonly process: FakeProcess
  readonly pipes: FakePipes
  readonly processes: FakeProcesses
  readonly program: FakeProgram | undefined
}

/**
 * Reads its input at once unless it stalls, reacts to its end, and runs `program` for as long as the process lives. What a
 * process that has ended still wants to send is never sent.
 */
export const makeFakeAgent = ({ pipes, process, processes, program, request }: AgentOptions): FakeAgent => {
  const received = makeOrderedQueue<Json>({ entriesMax: 1 << 20, bytesMax: Number.MAX_SAFE_INTEGER })
  const written: Array<Json> = []
  const framesOf = makeFrameReader()

  const readInput = Effect.gen(function* () {
    for (;;) {
      const piece = yield* pipes.stdin.read
      if (piece === undefined) break
      for (const frame of framesOf(piece)) {
        written.push(frame)
        received.force(frame, 0)
      }
    }
    if (pipes.stdin.readers.has(process)) processes.react(process, process.habits.onEof ?? { exitMs: 0 })
  })

  const agent: FakeAgent = {
    launch: request,
    written,
    receive: takeOne(received),
    send: (...frames) => agent.sendBytes(encodeFrames(frames)),
    sendBytes: (bytes) =>
      Effect.suspend(() => (process.state === "running" ? Effect.ignore(pipes.stdout.write(bytes)) : Effect.never)),
    exit: (exit) => Effect.sync(() => processes.end(process, exit)),
    closeStdin: Effect.sync(() => void pipes.stdin.drop(process)),
    stallStdin: Effect.sync(() => pipes.stdin.pause(true)),
    readStdin: Effect.sync(() => pipes.stdin.pause(false)),
    isEnded: () => process.state !== "running"
  }
  processes.run(process, readInput)
  if (program !== undefined) processes.run(process, Effect.scoped(Effect.andThen(program(agent), Effect.never)))
  return agent
}
