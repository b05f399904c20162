/** Worlds as tests. `SIM_SCALE` makes a campaign of them: so many times the schedules and the interrupts. */
import { expect, it } from "vitest"
import { explore, type Simulated, sweep } from "./explore.ts"

export const scale = Number(process.env["SIM_SCALE"] ?? 1)

/** The schedules and interrupts of a world keep every invariant, and get where they are meant to get. */
export const prove = <W>(worlds: Readonly<Record<string, W>>, simulate: (world: W) => Simulated): void => {
  for (const [name, world] of Object.entries(worlds)) {
    it(name, { timeout: 60_000 * scale }, () => {
      const simulated = simulate(world)
      const { missed, violations } = explore(simulated, 16 * scale)
      expect(violations.slice(0, 3)).toEqual([])
      expect(sweep(simulated, scale).violations.slice(0, 3)).toEqual([])
      expect(missed).toEqual([])
    })
  }
}
