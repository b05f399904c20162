/** Every public operation of a session, interrupted at every step of a run: one run per step, whole and split. */
import { describe, expect, it } from "vitest"
import { campaign, sweepInterrupts } from "../../src/testing/index.ts"
import { simulate } from "./sim/host.ts"
import { interruptWorlds } from "./sim/interruptWorlds.ts"

const scale = Number(process.env["SIM_SCALE"] ?? 1)

/** A run without progress never stops by itself: the timer of a stalled turn goes on for ever. */
const maxSteps = 5_000

describe("interrupted at every step, an operation leaves nothing, and the session goes on", () => {
  for (const [name, world] of Object.entries(interruptWorlds)) {
    it(name, { timeout: 120_000 * scale }, () => {
      const { program } = simulate(world)
      const seeds = Array.from({ length: scale }, (_, index) => index + 1)
      const { runs, violations } = sweepInterrupts(program, { seeds, timeProbability: 0, maxSteps })
      expect(violations.slice(0, 3)).toEqual([])
      expect(runs).toBeGreaterThan(100)
      const { reached } = campaign(program, { runs: 16, maxSteps })
      expect((world.reaches ?? []).filter((state) => !reached.has(state))).toEqual([])
    })
  }
})
