/** Many schedules of the ordered queue. */
import { expect, it } from "vitest"
import { check } from "../../src/testing/index.ts"
import { queuePrograms } from "./sim/queuePrograms.ts"

for (const [name, program] of Object.entries(queuePrograms)) {
  it(`nothing is lost, nothing comes twice, nobody waits for ever: ${name}`, () => {
    const found = Array.from({ length: 600 }, (_, n) => {
      const options = { seed: n, yieldProbability: [0, 0.1, 0.15][n % 3]!, maxSteps: 5_000 }
      return check(program(options), options)
    })
    expect(found.flatMap(({ violations }) => violations).slice(0, 3)).toEqual([])
  })
}
