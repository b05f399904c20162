/** Whatever an agent does, and whenever its host is interrupted. `SIM_SCALE` makes a campaign of it. */
import { describe, expect, it } from "vitest"
import { explore, sweep } from "../../sim/exploreProcesses.ts"
import { processSessions } from "../../sim/processSessions.ts"
import { processWorlds } from "../../sim/processWorlds.ts"

const scale = Number(process.env["SIM_SCALE"] ?? 1)

describe("every process is owned, and every end is proven", () => {
  for (const [name, world] of Object.entries({ ...processWorlds, ...processSessions })) {
    it(name, { timeout: 60_000 * scale }, () => {
      const { violations, reached } = explore(world, 16 * scale)
      expect(violations.slice(0, 3)).toEqual([])
      expect(sweep(world, scale).violations.slice(0, 3)).toEqual([])
      expect((world.reaches ?? []).filter((state) => !reached.has(state))).toEqual([])
    })
  }
})
