/** `greenroom/testing`: the simulator. */
export type { Choice } from "./choices.ts"
export { run, type RunOptions, type RunResult, victim } from "./run.ts"
export {
  check,
  type CheckResult,
  type Program,
  sweepInterrupts,
  type SweepOptions,
  type SweepResult,
  type Violation
} from "./sweepInterrupts.ts"
