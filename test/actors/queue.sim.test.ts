/** Many schedules of the ordered queue. */
import { expect, it } from "vitest"
import { campaign } from "../../src/testing/index.ts"
import { queuePrograms } from "./sim/queuePrograms.ts"

for (const [name, program] of Object.entries(queuePrograms)) {
  it(`nothing is lost, nothing comes twice, nobody waits for ever: ${name}`, () => {
    expect(campaign(program, { runs: 600, maxSteps: 5_000 }).violations.slice(0, 3)).toEqual([])
  })
}
