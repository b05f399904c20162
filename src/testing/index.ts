/** `greenroom/testing`: the simulator. */
export { campaign, type CampaignOptions, type CampaignResult } from "./campaign.ts"
export { check, type Checked, type MakeProgram, type Program, type Violation } from "./check.ts"
export type { Choice, Thereafter } from "./choices.ts"
export { describeViolation, type DescribeOptions } from "./describeViolation.ts"
export { exhaust, type ExhaustOptions, type ExhaustResult } from "./exhaust.ts"
export { type FakeAgent, type FakeProgram, type Json, makeFakeLinks } from "./FakeLinks.ts"
export type { FakeLedger } from "./fakeLedgers.ts"
export {
  type FakeLaunch,
  type FakeLaunched,
  type FakeOs,
  type FakeOsScript,
  type FakeSignal,
  makeFakeOs
} from "./FakeOs.ts"
export type { FakeProcess, Habits, PipeName, Reaction, Role } from "./fakeProcesses.ts"
export { type LinkEnd, type OwnershipInvariant, ownershipInvariants, ownershipViolations } from "./ownership.ts"
export { run, type RunOptions, type RunResult, victim } from "./run.ts"
export { shrink, type ShrinkOptions } from "./shrink.ts"
export { narrate } from "./story.ts"
export { sweepInterrupts, type SweepOptions, type SweepResult } from "./sweepInterrupts.ts"
