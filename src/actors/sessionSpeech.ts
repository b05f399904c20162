/** What a session says of itself, apart from its turns: each fact once, and no failure once it is closed. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Semaphore from "effect/Semaphore"
import type { Noise } from "../schema/acp/noise.ts"
import type { ConnectionClosed } from "../schema/errors.ts"
import type { EventDraft } from "../schema/prp/event.ts"
import * as drafts from "../schema/prp/sessionDrafts.ts"
import { redactLine, sensitiveValues } from "../schema/redaction.ts"
import type { Launch } from "../services/AgentLink.ts"
import type { Journal } from "./Journal.ts"

interface Speaker {
  /** A session may go over to another run. */
  readonly runId: () => string
  readonly sessionId: string
  readonly launch: Launch
}

export const makeSpeech = (journal: Journal["Service"], { runId, sessionId, launch }: Speaker) => {
  const closing = Latch.makeUnsafe(false)
  /** A failure that is being said is said before the close, and none is said behind it. */
  const lastWord = Semaphore.makeUnsafe(1)
  /** What is said once, or not any more. */
  const said = new Set<"started" | "noise" | "exit" | "failed" | "closed">()
  const force = (...made: ReadonlyArray<EventDraft>) =>
    Effect.suspend(() => journal.force({ runId: runId(), sessionId, drafts: made, bytes: 0 }))
  return {
    force,
    started: (draft: EventDraft) => Effect.suspend(() => (said.add("started"), force(draft))),
    hasStarted: () => said.has("started"),
    /** Once, and not of what is closed. */
    failed: (draft: EventDraft) =>
      Effect.suspend(() => {
        if (said.has("failed") || said.has("closed")) return Effect.void
        said.add("failed")
        return force(draft)
      }).pipe(lastWord.withPermits(1)),
    closed: (draft: EventDraft) =>
      Effect.suspend(() => {
        said.add("closed")
        return force(draft)
      }).pipe(lastWord.withPermits(1)),
    /** Waits for subscribers until `draining` opens, by default until the session closes. */
    append: (made: ReadonlyArray<EventDraft>, bytes: number, draining: Latch.Latch | undefined) =>
      Effect.suspend(() =>
        Effect.asVoid(journal.append({ runId: runId(), sessionId, drafts: made, bytes }, draining ?? closing))
      ),
    stopWaiting: () => closing.openUnsafe(),
    /** Once, as soon as it is known. */
    exit: (exit: ConnectionClosed["exit"]) =>
      Effect.suspend(() => {
        if (exit === undefined || said.has("exit")) return Effect.void
        said.add("exit")
        return force(drafts.harnessExited(exit))
      }),
    /** Once, at the end, if there was any. */
    noise: (noise: Noise) =>
      Effect.suspend(() => {
        if (said.has("noise") || noise.lines + noise.invalidUtf8Lines === 0) return Effect.void
        said.add("noise")
        const values = sensitiveValues(launch.env)
        const samples = noise.samples.map((line) => redactLine(line, values))
        return force(drafts.outputNoise(sessionId, { ...noise, samples }))
      })
  }
}
