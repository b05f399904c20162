/** Worlds as tests. `SIM_SCALE` makes a campaign of them: so many times the schedules and the interrupts. */
import { expect, it } from "vitest"
import { explore, sweep } from "./explore.ts"
import type { World } from "./host.ts"

const scale = Number(process.env["SIM_SCALE"] ?? 1)

/** The schedules and interrupts of a world keep every invariant, and get where they are meant to get. */
export const prove = (worlds: Readonly<Record<string, World>>): void => {
  for (const [name, world] of Object.entries(worlds)) {
    it(name, { timeout: 60_000 * scale }, () => {
      const { violations, reached } = explore(world, 16 * scale)
      expect(violations.slice(0, 3)).toEqual([])
      expect(sweep(world, scale).violations.slice(0, 3)).toEqual([])
      expect((world.reaches ?? []).filter((state) => !reached.has(state))).toEqual([])
    })
  }
}
