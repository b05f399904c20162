/** What must hold of every run of the kernel's programs, and the ledger that sees whether it does. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ActorRef, AskOptions } from "../../../../src/actors/kernel/Actor.ts"
import type { Ask, Tell } from "../../../../src/actors/kernel/Message.ts"
import type { RunResult } from "../../../../src/testing/index.ts"
import { Problems } from "../../sim/problems.ts"
import { WatchedTable } from "../../sim/watchedTable.ts"

/** A violation reads `name: detail`; what is found in every run has its name from `invariantOf`. */
export const kernelInvariants = {
  answeredOnce: "Every ask is answered once, by its handler or by what became of the actor.",
  queueKept: "What waits in the mailbox of an actor that crashes is handled after its restart.",
  noStrayInterrupt: "An ask ends in an interrupt only when its own asker is interrupted.",
  bounded: "A lane holds no more messages and reservations than its capacity.",
  childrenFirst: "What a parent holds is let go of when its children have ended: they may still use it.",
  progress: "A run ends: nobody waits for ever, and nothing runs for ever.",
  nothingLeft: "After the owner's scope has closed nothing is left: no fiber, timer, actor or resource."
} as const

interface Failure {
  readonly _tag: string
}

export type KernelInvariantName = keyof typeof kernelInvariants

export type Message =
  | Ask<"now", { n: number }, number>
  | Ask<"slow", { n: number }, number>
  | Ask<"later", { n: number }, number>
  | Ask<"gentle", { n: number }, number>
  | Tell<"crash">
  | Ask<"crashLater", {}, number>
  | Tell<"urgent">

export class KernelLedger {
  readonly table = new WatchedTable()
  /** No actor of this program stops before its end, unless the program is interrupted. */
  stopsLast = false
  /** Rare states that somebody wants to be seen at least once. */
  readonly seen = new Set<string>()
  private readonly problems = new Problems<KernelInvariantName>()
  private opened = 0
  private closed = 0
  private asked = 0
  private answered = 0
  private refused = 0

  readonly violations = ({ exit }: RunResult<unknown, unknown>): ReadonlyArray<string> => {
    const { add, found } = this.problems
    if (this.opened !== this.closed) add("nothingLeft", `${this.opened} opened, ${this.closed} closed`)
    if (this.asked !== this.answered) add("answeredOnce", `${this.asked} asked, ${this.answered} answered`)
    for (const { path, state } of this.table.snapshot()) add("nothingLeft", `${path} is left, ${state}`)
    const isWhole = typeof exit !== "string" && !Exit.hasInterrupts(exit)
    if (this.stopsLast && isWhole && this.refused > 0) add("queueKept", `${this.refused} asks found a stopped actor`)
    return found
  }

  readonly reached = (): ReadonlySet<string> => {
    const { lateReplies, restarts, unreleased } = this.table.counters()
    if (lateReplies > 0) this.seen.add("a reply that comes too late")
    if (restarts > 0) this.seen.add("a restart")
    if (unreleased > 0) this.seen.add("a stop that misses its deadline")
    return this.seen
  }

  readonly resource = Effect.acquireRelease(
    Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() => this.opened++)
    ),
    () =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => this.closed++)
      )
  )

  /** A resource of a parent that its child may use until it has ended. */
  readonly outlives = (child: ActorRef<Message>) =>
    Effect.addFinalizer(() =>
      Effect.sync(() => {
        const state = child.state()
        if (state !== "stopped" && state !== "unreleased") this.problems.add("childrenFirst", `the child is ${state}`)
      })
    )

  /** Asks in the caller's fiber and notes the answer. */
  readonly ask = <M extends Message>(ref: ActorRef<Message>, message: M, options?: AskOptions) =>
    Effect.uninterruptibleMask((restore) => {
      this.asked++
      return Effect.tap(Effect.exit(restore(ref.ask(message, options))), (exit) =>
        Effect.sync(() => {
          this.answered++
          const failure = failureOf(exit)
          if (failure !== undefined) this.seen.add(failure)
          if (failure === "ActorStopped") this.refused++
          for (const over of this.table.overfull()) this.problems.add("bounded", over)
        })
      )
    })

  /** Asks in a fiber of its own that is never interrupted while the program is not. */
  readonly fork = (ref: ActorRef<Message>, message: Message, options?: AskOptions) =>
    Effect.forkChild(
      Effect.tap(this.ask(ref, message, options), (exit) =>
        Effect.sync(() => {
          if (String(exit).includes("Interrupt")) this.problems.add("noStrayInterrupt", message._tag)
        })
      )
    )
}

/** The tag of a typed failure. */
const failureOf = (exit: Exit.Exit<unknown, Failure>): string | undefined =>
  Exit.isFailure(exit) ? exit.cause.reasons.find(Cause.isFailReason)?.error._tag : undefined
