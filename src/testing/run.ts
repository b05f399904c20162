/**
 * Runs a program under a seeded scheduler and a virtual clock, as one synchronous call.
 *
 * Guarantees: equal seeds, choices and options give equal runs; every order that suspensions allow can be drawn; time may
 * pass while something could still run, so that every timeout is drawn against every completion.
 * Not covered: promises, native timers and input/output. A program that waits for one of them is a deadlock here.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import { type Choice, Choices, seeded, type Thereafter } from "./choices.ts"
import { SimClock } from "./SimClock.ts"
import { SimScheduler } from "./SimScheduler.ts"
import { CurrentStory, Story } from "./story.ts"

export interface RunOptions {
  /** Default 1. */
  readonly seed?: number
  /** The picks of an earlier run to follow. */
  readonly choices?: ReadonlyArray<number>
  /** Who picks where `choices` end. Default: the seed. */
  readonly thereafter?: Thereafter
  /** Chance of a forced yield at each operation from the third on; 0 (default), or up to 0.15. Above 0.3 nothing progresses. */
  readonly yieldProbability?: number
  /**
   * Chance at each step that time passes although something could run; 0: only when nothing can. By default time is drawn like
   * one of the tasks, under which a deadline hardly ever holds long enough for a longer program to get anywhere.
   */
  readonly timeProbability?: number
  /** Interrupts the victim, else the program, before this step (counted from 0). */
  readonly interruptAt?: number
  /** Default 100 000. */
  readonly maxSteps?: number
  /** Steps without time passing, beyond which a program that has not ended is a livelock. Default 20 000. */
  readonly maxStepsAtOnce?: number
  /** Records who ran. Default: false. */
  readonly story?: boolean
}

export interface RunResult<A, E> {
  /**
   * `deadlock`: nothing could run, nobody slept, and the program had not ended. `livelock`: something ran and ran while time stood
   * still. `budget`: `maxSteps` were not enough.
   */
  readonly exit: Exit.Exit<A, E> | "deadlock" | "livelock" | "budget"
  /** Tasks run and advances of time. */
  readonly steps: number
  /** Virtual milliseconds. */
  readonly now: number
  /** Fibers that have not ended, once nothing can run without time passing. */
  readonly live: number
  /** Sleeps that nobody has ended. */
  readonly timers: number
  readonly trace: ReadonlyArray<Choice>
  /** Empty unless it was asked for. */
  readonly story: ReadonlyArray<string>
}

export const run = <A, E>(effect: Effect.Effect<A, E>, options: RunOptions = {}): RunResult<A, E> => {
  const { interruptAt, maxSteps = 100_000, maxStepsAtOnce = 20_000 } = options
  const world = new World(options)
  const fiber = Effect.runForkWith(world.context)(effect, { scheduler: world.scheduler })
  const end = (exit: RunResult<A, E>["exit"], steps: number): RunResult<A, E> => ({
    exit,
    steps,
    now: world.clock.now,
    live: world.live,
    timers: world.clock.sleeping,
    trace: world.choices.trace,
    story: world.story?.lines ?? []
  })
  for (let steps = 0; ; steps++) {
    if (steps === interruptAt) {
      world.story?.tell("(interrupted)")
      ;(world.victim.fiber ?? fiber).interruptUnsafe()
    }
    if (steps >= maxSteps) return end("budget", steps)
    const exit = fiber.pollUnsafe()
    if (exit === undefined && world.stepsAtOnce > maxStepsAtOnce) return end("livelock", steps)
    if (!world.step(exit === undefined)) return end(exit ?? fiber.pollUnsafe() ?? "deadlock", steps)
  }
}

/**
 * Runs `effect` in a child fiber, makes that the one which `interruptAt` interrupts, and gives its exit. Before it starts, the
 * program itself is the one.
 */
export const victim = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.flatMap(Victim, (victim) => {
    const registered = Effect.withFiber<A, E, R>((fiber) => {
      victim.fiber = fiber
      return effect
    })
    return Effect.flatMap(Effect.forkChild(registered), Fiber.await)
  })

const Victim = Context.Reference<{ fiber: Fiber.Fiber<unknown, unknown> | undefined }>("greenroom/testing/Victim", {
  defaultValue: () => ({ fiber: undefined })
})

/** Everything that one run shares. */
class World {
  readonly choices: Choices
  readonly scheduler: SimScheduler
  readonly clock = new SimClock()
  readonly victim: { fiber: Fiber.Fiber<unknown, unknown> | undefined } = { fiber: undefined }
  readonly context: Context.Context<never>
  readonly story: Story | undefined
  live = 0
  /** Since time has passed. */
  stepsAtOnce = 0
  private readonly timeProbability: number | undefined

  constructor({
    seed = 1,
    choices = [],
    thereafter = "seed",
    yieldProbability = 0,
    timeProbability,
    story
  }: RunOptions) {
    this.timeProbability = timeProbability
    this.story = story === true ? new Story() : undefined
    this.choices = new Choices(seed, choices, thereafter)
    this.scheduler = new SimScheduler(yieldProbability, seeded(seed + 1), this.story?.observe)
    const random = seeded(seed + 2)
    this.context = Context.empty().pipe(
      Context.add(Clock.Clock, this.clock),
      Context.add(Random.Random, {
        nextDoubleUnsafe: random,
        nextIntUnsafe: () => Math.floor((random() * 2 - 1) * Number.MAX_SAFE_INTEGER)
      }),
      Context.add(Victim, this.victim),
      Context.add(CurrentStory, this.story),
      Context.add(Metric.FiberRuntimeMetrics, {
        recordFiberStart: () => {
          this.live++
        },
        recordFiberEnd: () => {
          this.live--
        }
      })
    )
  }

  /** Runs one task, or lets time pass when that is allowed. `false` when there is nothing to do. */
  step(timePasses: boolean): boolean {
    const tasks = this.scheduler.tasks.length
    const canPass = timePasses && !this.clock.isIdle
    if (tasks === 0 && !canPass) return false
    const pick = canPass ? this.pickOrPass(tasks) : this.choices.pick(tasks)
    const before = this.clock.now
    if (pick < tasks) this.scheduler.runTask(pick)
    else this.clock.advance()
    const passed = this.clock.now > before
    if (passed) this.story?.tell("(time passes)")
    this.stepsAtOnce = passed ? 0 : this.stepsAtOnce + 1
    return true
  }

  /** A task, or `tasks` for time. */
  private pickOrPass(tasks: number): number {
    if (this.timeProbability === undefined) return this.choices.pick(tasks + 1)
    if (tasks === 0 || this.choices.happens(this.timeProbability)) return tasks
    return this.choices.pick(tasks)
  }
}
