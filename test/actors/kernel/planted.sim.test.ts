/** Bugs of the kernel, one of each kind at least that its ledger is for: it finds each within a stated number of schedules. */
import * as Exit from "effect/Exit"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Deadlines } from "../../../src/actors/kernel/Deadlines.ts"
import { Envelope } from "../../../src/actors/kernel/Envelope.ts"
import { ActorTable } from "../../../src/actors/kernel/Registry.ts"
import { type Lane, Mailbox } from "../../../src/actors/kernel/Mailbox.ts"
import { ActorStopped } from "../../../src/schema/errors.ts"
import { check } from "../../../src/testing/index.ts"
import { invariantOf } from "../sim/invariants.ts"
import { type KernelInvariantName, kernelInvariants } from "./sim/kernelLedger.ts"
import { kernelPrograms } from "./sim/programs.ts"

interface Plant {
  readonly bug: string
  readonly invariant: KernelInvariantName
  readonly program: keyof typeof kernelPrograms
  readonly plant: () => void
  readonly within: number
}

/** At the end of an incarnation. */
const loseQueued = (lose: (envelope: Envelope) => void) => () => {
  const unpark = Mailbox.prototype.unpark
  vi.spyOn(Mailbox.prototype, "unpark").mockImplementation(function (this: Mailbox) {
    unpark.call(this)
    for (let lost = this.take(); lost !== undefined; lost = this.take()) lose(lost)
  })
}

const plants: ReadonlyArray<Plant> = [
  {
    bug: "a mailbox that is not drained on stop",
    invariant: "answeredOnce",
    program: "stop",
    plant: () => void vi.spyOn(Mailbox.prototype, "drain").mockImplementation(function* () {}),
    within: 1
  },
  {
    bug: "a restart that loses queued messages",
    invariant: "answeredOnce",
    program: "a supervised restart",
    plant: loseQueued(() => {}),
    within: 1
  },
  {
    bug: "a restart that refuses queued messages",
    invariant: "queueKept",
    program: "a supervised restart",
    plant: loseQueued((lost) => lost.complete(Exit.fail(new ActorStopped({ path: "/actor" })))),
    within: 1
  },
  {
    bug: "a stop that interrupts whoever asked",
    invariant: "noStrayInterrupt",
    program: "stop",
    plant: () => {
      const complete = Envelope.prototype.complete
      vi.spyOn(Envelope.prototype, "complete").mockImplementation(function (this: Envelope, effect) {
        return complete.call(this, Exit.isExit(effect) && Exit.isFailure(effect) ? Exit.interrupt() : effect)
      })
    },
    within: 1
  },
  {
    bug: "a mailbox that refuses nobody",
    invariant: "bounded",
    program: "ask",
    plant: () =>
      void vi.spyOn(Mailbox.prototype, "offer").mockImplementation(function (this: Mailbox, lane: Lane, envelope) {
        this.admit(lane, envelope)
        return true
      }),
    within: 1
  },
  {
    bug: "a wake-up that gets lost",
    invariant: "progress",
    program: "ask",
    plant: () => void vi.spyOn(Mailbox.prototype, "wake").mockImplementation(() => {}),
    within: 1
  },
  {
    bug: "a parent that forgets its child",
    invariant: "childrenFirst",
    program: "a parent with a child",
    plant: () => {
      const enter = ActorTable.prototype.enter
      vi.spyOn(ActorTable.prototype, "enter").mockImplementation(function (this: ActorTable, cell) {
        enter.call(this, cell)
        cell.parent?.children?.delete(cell)
      })
    },
    within: 4
  },
  {
    bug: "a deadline that is never disarmed",
    invariant: "nothingLeft",
    program: "ask with a deadline",
    plant: () => void vi.spyOn(Deadlines.prototype, "close").mockImplementation(() => {}),
    within: 20
  }
]

describe("the ledger catches a planted bug of the kernel", () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  for (const { bug, invariant, program, plant, within } of plants) {
    it(`${bug}: within ${within} schedules`, () => {
      plant()
      const found = Array.from({ length: within }, (_, n) => {
        const interrupt = n % 4 === 3 ? { interruptAt: 2 * n } : {}
        const options = { seed: n + 1, yieldProbability: n % 2 === 0 ? 0 : 0.1, maxSteps: 5_000, ...interrupt }
        return check(kernelPrograms[program](), options).violations
      })
      expect(found.flat().map(({ what }) => invariantOf(what))).toContain(invariant)
    })
  }

  it("of every kind that the ledger is for", () => {
    const planted = new Set(plants.map(({ invariant }) => invariant))
    expect(Object.keys(kernelInvariants).filter((name) => ![...planted].some((one) => one === name))).toEqual([])
  })
})
