/** The durable journal, ended at every commit of its life, and many schedules of it. */
import { describe, expect, it } from "vitest"
import { check, type RunOptions, sweepInterrupts } from "../../src/testing/index.ts"
import { scale } from "../sim/prove.ts"
import { commitsMin, journalProgram, journalPrograms, journalReaches } from "./sim/journalPrograms.ts"

const maxSteps = 20_000

const schedules = (count: number): ReadonlyArray<RunOptions> =>
  Array.from({ length: count }, (_, n) => ({
    seed: n + 1,
    yieldProbability: n % 2 === 0 ? 0 : 0.1,
    timeProbability: 0,
    maxSteps
  }))

describe("a process that ends at a commit loses nothing that it confirmed and repeats nothing", () => {
  for (const how of ["ends before", "ends behind", "fails"] as const) {
    for (let at = 1; at <= commitsMin; at++) {
      it(`${how} commit ${at}`, () => {
        const violations = schedules(12 * scale).flatMap(
          (options) => check(journalProgram({ at, how })(options), options).violations
        )
        expect(violations.slice(0, 3)).toEqual([])
      })
    }
  }
})

describe("many schedules keep every invariant, and get where they are meant to get", () => {
  for (const [name, make] of Object.entries(journalPrograms)) {
    it(name, () => {
      const missed = new Set(journalReaches[name])
      for (const options of schedules(60 * scale)) {
        const { reached, violations } = check(make(options), options)
        expect(violations).toEqual([])
        for (const state of reached) missed.delete(state)
      }
      expect([...missed]).toEqual([])
    })
  }
})

it("an interrupt at any step leaves nothing behind", { timeout: 60_000 * scale }, () => {
  const { violations } = sweepInterrupts(journalProgram(undefined), {
    seeds: [1, 2],
    timeProbability: 0,
    every: Math.max(1, Math.round(5 / scale)),
    maxSteps
  })
  expect(violations.slice(0, 3)).toEqual([])
})
