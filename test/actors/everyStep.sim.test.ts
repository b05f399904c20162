/** Every public operation of a session, interrupted at every step of a run: one run per step, whole and split. */
import { describe, expect, it } from "vitest"
import { sweepInterrupts } from "../../src/testing/index.ts"
import { explore } from "../sim/explore.ts"
import { scale } from "../sim/prove.ts"
import { simulate } from "./sim/host.ts"
import { interruptWorlds } from "./sim/interruptWorlds.ts"

describe("interrupted at every step, an operation leaves nothing, and the session goes on", () => {
  for (const [name, world] of Object.entries(interruptWorlds)) {
    it(name, { timeout: 120_000 * scale }, () => {
      const simulated = simulate(world)
      const { make, maxSteps } = simulated
      const seeds = Array.from({ length: scale }, (_, index) => index + 1)
      const { runs, violations } = sweepInterrupts(make, { seeds, timeProbability: 0, maxSteps })
      expect(violations.slice(0, 3)).toEqual([])
      expect(runs).toBeGreaterThan(100)
      expect(explore(simulated, 16).missed).toEqual([])
    })
  }
})
