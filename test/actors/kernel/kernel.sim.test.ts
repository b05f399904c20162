/** Every order, and an interrupt at every step, of what an actor's life is made of. */
import { describe, expect, it } from "vitest"
import { sweepInterrupts } from "../../../src/testing/index.ts"
import { kernelPrograms } from "./sim/programs.ts"

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
