/**
 * Everything that `npm run sim` runs: a name, a program, the rare states that a campaign must get it into.
 *
 * Worlds that need small bounds are not among them: they mock `limits`, which only a test can.
 */
import type { MakeProgram } from "../../src/testing/index.ts"
import { kernelPrograms, kernelReaches } from "../actors/kernel/sim/programs.ts"
import { simulate, type World } from "../actors/sim/host.ts"
import { interruptWorlds } from "../actors/sim/interruptWorlds.ts"
import { journalPrograms, journalReaches } from "../actors/sim/journalPrograms.ts"
import { lifeWorlds } from "../actors/sim/lifeWorlds.ts"
import { queuePrograms } from "../actors/sim/queuePrograms.ts"
import { requestWorlds } from "../actors/sim/requestWorlds.ts"
import { turnWorlds } from "../actors/sim/turnWorlds.ts"
import { simulate as simulateProcesses, type ProcessWorld } from "./processHost.ts"
import { processSessions } from "./processSessions.ts"
import { processWorlds } from "./processWorlds.ts"

export interface SimProgram {
  readonly name: string
  readonly make: MakeProgram<unknown, unknown>
  readonly reaches: ReadonlyArray<string>
  /** Its share of the runs, by how little one costs. */
  readonly weight: number
  readonly maxSteps: number
}

const ofWorld = ([name, world]: readonly [string, World]): SimProgram => ({ name, weight: 1, ...simulate(world) })

const ofProcesses = ([name, world]: readonly [string, ProcessWorld]): SimProgram => ({
  name,
  weight: 1,
  ...simulateProcesses(world)
})

const reaches: Readonly<Record<string, ReadonlyArray<string>>> = kernelReaches

const ofKernel = ([name, make]: readonly [string, MakeProgram<unknown, unknown>]): SimProgram => ({
  name: `kernel: ${name}`,
  make,
  reaches: reaches[name] ?? [],
  weight: 10,
  maxSteps: 20_000
})

const ofJournal = ([name, make]: readonly [string, MakeProgram<unknown, unknown>]): SimProgram => ({
  name: `journal: ${name}`,
  make,
  reaches: journalReaches[name] ?? [],
  weight: 1,
  maxSteps: 20_000
})

export const programs: ReadonlyArray<SimProgram> = [
  ...Object.entries<MakeProgram<unknown, unknown>>({ ...kernelPrograms, ...queuePrograms }).map(ofKernel),
  ...Object.entries(journalPrograms).map(ofJournal),
  ...Object.entries(interruptWorlds).map(([name, world]) => ofWorld([`interrupted: ${name}`, world])),
  ...Object.entries({ ...turnWorlds, ...lifeWorlds, ...requestWorlds }).map(ofWorld),
  ...Object.entries({ ...processWorlds, ...processSessions }).map(ofProcesses)
]

/** Those whose name has the text in it. */
export const programsNamed = (text: string): ReadonlyArray<SimProgram> => {
  const exact = programs.filter(({ name }) => name === text)
  return exact.length > 0 ? exact : programs.filter(({ name }) => name.includes(text))
}
