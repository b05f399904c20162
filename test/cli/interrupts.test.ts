import { describe, expect, it } from "vitest"
import { type Interrupt, interrupted, notInterrupted } from "../../src/cli/interrupts.ts"
import { limits } from "../../src/schema/limits.ts"

/** What each of these signals does, in order. */
const actions = (...signals: ReadonlyArray<readonly [Interrupt, number]>) => {
  let state = notInterrupted
  return signals.map(([signal, atMs]) => {
    const [next, action] = interrupted(state, signal, atMs)
    state = next
    return action
  })
}

const repeat = limits.interruptRepeatMsMin

describe("a signal", () => {
  it("of any kind cancels when it is the first", () => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"] as const)
      expect(actions([signal, 0])).toEqual(["cancel"])
  })

  it("SIGINT kills at the second time, once the first is old enough to be another one", () => {
    expect(actions(["SIGINT", 10], ["SIGINT", 10 + repeat])).toEqual(["cancel", "kill"])
    expect(actions(["SIGINT", 10], ["SIGINT", 10 + repeat - 1])).toEqual(["cancel", "none"])
    expect(actions(["SIGINT", 10], ["SIGINT", 11], ["SIGINT", 10 + repeat])).toEqual(["cancel", "none", "kill"])
  })

  it("SIGINT after another signal is the first Ctrl-C", () => {
    expect(actions(["SIGTERM", 0], ["SIGINT", repeat], ["SIGINT", 3 * repeat])).toEqual(["cancel", "none", "kill"])
  })

  it("SIGTERM and SIGHUP never kill, however often they come", () => {
    const often = Array.from({ length: 5 }, (_, index) => ["SIGTERM", index * 2 * repeat] as const)
    expect(actions(...often, ["SIGHUP", 99 * repeat])).toEqual(["cancel", "none", "none", "none", "none", "none"])
  })

  it("after a kill does nothing", () => {
    expect(actions(["SIGINT", 0], ["SIGINT", repeat], ["SIGINT", 2 * repeat], ["SIGTERM", 3 * repeat])).toEqual([
      "cancel",
      "kill",
      "none",
      "none"
    ])
  })
})
