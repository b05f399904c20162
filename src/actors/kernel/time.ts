/** The kernel's time: milliseconds that no adjustment of the wall clock moves. Only differences mean anything. */
import type * as Clock from "effect/Clock"

export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
