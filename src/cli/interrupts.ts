/**
 * What a signal does to a run. The first one cancels the turn, a second Ctrl-C kills the agent; SIGTERM and SIGHUP never kill
 * by themselves, however often they come.
 */
import { limits } from "../schema/limits.ts"

/** `SIGPIPE` stands for a reader of stdout that is gone. */
export type Interrupt = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE"

export type InterruptAction = "cancel" | "kill" | "none"

export interface InterruptState {
  readonly action: InterruptAction
  readonly lastSigintMs: number | undefined
}

export const notInterrupted: InterruptState = { action: "none", lastSigintMs: undefined }

/** One Ctrl-C may arrive twice at once, from the terminal and from a parent that passes it on (npm, npx): it counts once. */
export const interrupted = (
  state: InterruptState,
  signal: Interrupt,
  nowMs: number
): readonly [InterruptState, InterruptAction] => {
  const isRepeat = state.lastSigintMs !== undefined && nowMs - state.lastSigintMs >= limits.interruptRepeatMsMin
  const lastSigintMs = signal !== "SIGINT" ? state.lastSigintMs : isRepeat ? nowMs : (state.lastSigintMs ?? nowMs)
  const wanted: InterruptAction = signal === "SIGINT" && isRepeat ? "kill" : "cancel"
  const isNews = rank[wanted] > rank[state.action]
  return [{ action: isNews ? wanted : state.action, lastSigintMs }, isNews ? wanted : "none"]
}

const rank: Record<InterruptAction, number> = { none: 0, cancel: 1, kill: 2 }
