/**
 * An Effect scheduler with one list of runnable tasks for all fibers; whoever drives it takes any of them next.
 *
 * With a yield probability it also splits synchronous stretches between two operations, as production does at its budget of
 * operations. Never before the third operation of a run loop: earlier the yield itself uses up the loop's operations, and a
 * fiber that is interrupted before its first run would lose the interrupt.
 */
import type * as Fiber from "effect/Fiber"
import type * as Scheduler from "effect/Scheduler"

const operationsBeforeYieldMin = 3
const operationsBeforeYieldMax = 2048

export class SimScheduler implements Scheduler.Scheduler {
  readonly executionMode = "sync"
  readonly tasks: Array<() => void> = []
  private readonly yieldProbability: number
  private readonly random: () => number
  private readonly observe: ((fiber: Fiber.Fiber<unknown, unknown>) => void) | undefined

  /** `observe` is told of every operation, by its fiber. */
  constructor(
    yieldProbability: number,
    random: () => number,
    observe?: (fiber: Fiber.Fiber<unknown, unknown>) => void
  ) {
    this.yieldProbability = yieldProbability
    this.random = random
    this.observe = observe
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    this.observe?.(fiber)
    const operations = fiber.currentOpCount
    if (operations >= operationsBeforeYieldMax) return true
    if (this.yieldProbability === 0 || operations < operationsBeforeYieldMin) return false
    return this.random() < this.yieldProbability
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return {
      scheduleTask: (task) => {
        this.tasks.push(task)
      },
      flush: () => {
        while (this.tasks.length > 0) this.runTask(0)
      }
    }
  }

  runTask(index: number): void {
    const [task] = this.tasks.splice(index, 1)
    task?.()
  }
}
