/** Every order, and an interrupt at every step, of what an actor's life is made of. */
import { describe, expect, it } from "vitest"
import { campaign, sweepInterrupts } from "../../../src/testing/index.ts"
import { kernelPrograms, kernelReaches } from "./sim/programs.ts"

const seeds = Array.from({ length: 6 }, (_, index) => index + 1)

describe("interrupted at every step, every ask is answered once, nothing lives on, nothing hangs", () => {
  for (const [name, program] of Object.entries(kernelPrograms)) {
    it(name, () => {
      const { runs, violations } = sweepInterrupts(program, { seeds })
      expect(violations.slice(0, 3)).toEqual([])
      expect(runs).toBeGreaterThan(100)
    })
  }
})

describe("under many schedules, too, each gets into its rare states", () => {
  const states: Readonly<Record<string, ReadonlyArray<string>>> = kernelReaches
  for (const [name, program] of Object.entries(kernelPrograms)) {
    it(name, () => {
      const { reached, violations } = campaign(program, { runs: 400 })
      expect(violations.slice(0, 3)).toEqual([])
      expect((states[name] ?? []).filter((state) => !reached.has(state))).toEqual([])
    })
  }
})
