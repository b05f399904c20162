/** The silence of an agent during a turn. It is reported, and ends nothing. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { limits } from "../schema/limits.ts"
import { noticeDraft } from "../schema/prp/notices.ts"
import type { TurnEvents } from "./turnEvents.ts"

/** Says once per quiet spell that nothing came; a person's time to answer is not the agent's silence. */
export const makeSilence = (turnId: string, force: TurnEvents["force"], sinceMs: number) => {
  let lastMs = sinceMs
  let reportedMs: number | undefined
  const report = Effect.suspend(() => {
    reportedMs = lastMs
    const summary = `nothing came from the agent for ${limits.stalledMs} ms`
    const id = `${turnId} stalled ${lastMs}`
    return force(noticeDraft({ id, category: "stalled", severity: "warning", summary, turnId }))
  })
  return {
    broken: (nowMs: number) => void (lastMs = nowMs),
    report,
    /** `stalled`: has it reported by the turn's own fiber, so never behind its terminal. */
    watch: Effect.fnUntraced(function* (isExpected: () => boolean, stalled: Effect.Effect<void>) {
      for (;;) {
        const quietMs = (yield* Clock.currentTimeMillis) - lastMs
        if (quietMs >= limits.stalledMs && reportedMs !== lastMs && isExpected()) yield* stalled
        yield* Effect.sleep(quietMs < limits.stalledMs ? limits.stalledMs - quietMs : limits.stalledMs)
      }
    })
  }
}
