/** Bugs, one of each kind that the ledger is for: it finds each within a stated number of schedules. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { AnswerSlot } from "../../src/actors/answerSlot.ts"
import type { Connection, Entry } from "../../src/actors/Connection.ts"
import type * as Actor from "../../src/actors/kernel/Actor.ts"
import type * as RequestState from "../../src/actors/requestState.ts"
import type * as SessionTurns from "../../src/actors/sessionTurns.ts"
import type * as Turns from "../../src/actors/Turn.ts"
import { encodeFrame } from "../../src/schema/acp/frame.ts"
import { isTurnTerminal } from "../../src/schema/prp/terminals.ts"
import { respond } from "./host.ts"
import { yields } from "./sim/agent.ts"
import { explore } from "./sim/explore.ts"
import type { Faults, World } from "./sim/host.ts"
import { after, during } from "./sim/hosts.ts"
import { lifeWorlds } from "./sim/lifeWorlds.ts"
import { requestWorlds } from "./sim/requestWorlds.ts"
import { turnWorlds } from "./sim/turnWorlds.ts"

/** The bug that is planted in a module at present. */
const planted = vi.hoisted(() => ({ bug: "" }))

const bugs = {
  slotTwice: "an answer slot works twice",
  recordedFirst: "a request is recorded before its write",
  notNoted: "a cancel does not know of a response that was taken",
  twoAtOnce: "a prompt does not wait for the one before it",
  noFinalizers: "a turn has no finalizers"
}

vi.mock("../../src/actors/requestState.ts", async (original) => {
  const module = await original<typeof RequestState>()
  const step: typeof module.step = (state, input) => {
    const [next, outputs] = module.step(state, input)
    if (input._tag !== "Answered" || next._tag !== "Answering") return [next, outputs]
    if (planted.bug === bugs.recordedFirst)
      return [next, [{ _tag: "RecordResolved", resolution: next.resolution }, ...outputs]]
    // Only the slot stands between a second answer and the agent.
    if (planted.bug === bugs.slotTwice) return [next, [{ _tag: "Write", answer: next.resolution.answer }]]
    return [next, outputs]
  }
  return { ...module, step }
})

vi.mock("../../src/actors/Turn.ts", async (original) => {
  const module = await original<typeof Turns>()
  const spawnTurn: typeof module.spawnTurn = (options) =>
    Effect.map(module.spawnTurn(options), (turn) =>
      planted.bug === bugs.notNoted ? { ...turn, responseTaken: () => {} } : turn
    )
  return { ...module, spawnTurn }
})

vi.mock("../../src/actors/sessionTurns.ts", async (original) => {
  const module = await original<typeof SessionTurns>()
  const makeSessionTurns: typeof module.makeSessionTurns = () => {
    const turns = module.makeSessionTurns()
    const add: typeof turns.add = (turn) => Effect.andThen(turns.add(turn), turn.start)
    return planted.bug === bugs.twoAtOnce ? { ...turns, add } : turns
  }
  return { ...module, makeSessionTurns }
})

vi.mock("../../src/actors/kernel/Actor.ts", async (original) => {
  const module = await original<typeof Actor>()
  const spawn: typeof module.spawn = (options) =>
    module.spawn(
      planted.bug === bugs.noFinalizers && options.name.startsWith("turn:")
        ? { ...options, behaviour: Effect.provideService(options.behaviour, Scope.Scope, Scope.makeUnsafe()) }
        : options
    )
  return { ...module, spawn }
})

/** A journal that says every terminal twice. */
const terminalTwice: Faults["journal"] = (journal) => ({
  ...journal,
  force: (entry) =>
    entry.drafts.some(isTurnTerminal)
      ? Effect.andThen(journal.force({ ...entry, drafts: entry.drafts.filter(isTurnTerminal) }), journal.force(entry))
      : journal.force(entry)
})

/** A journal that takes its time. */
const slow: Faults["journal"] = (journal) => ({
  ...journal,
  append: (entry, draining) => Effect.andThen(yields(40), journal.append(entry, draining))
})

/** A journal that leaves out the last event of every larger batch. */
const lossy: Faults["journal"] = (journal) => ({
  ...journal,
  append: (entry, draining) => journal.append({ ...entry, drafts: entry.drafts.slice(0, 1) }, draining)
})

/** Answer slots that can be used again. */
const slotsTwice: Faults["connections"] = (connections) => ({
  ...connections,
  claim: (name, launch) =>
    Effect.map(connections.claim(name, launch), (claim) => ({
      ...claim,
      take: Effect.map(claim.take, (batch) =>
        batch === undefined
          ? undefined
          : { ...batch, entries: batch.entries.map((one) => reusable(one, claim.connection)) }
      )
    }))
})

const reusable = (entry: Entry, { link }: Connection): Entry => {
  if (entry._tag !== "Request") return entry
  const { slot } = entry
  let isUsed = false
  const answer: AnswerSlot["answer"] = (reply) =>
    Effect.suspend(() => {
      const frame = encodeFrame({ jsonrpc: "2.0", id: slot.nativeId, ...reply })
      if (isUsed && frame instanceof Uint8Array) return Effect.as(Effect.ignore(link.write(frame)), "written" as const)
      isUsed = true
      return slot.answer(reply)
    })
  return {
    ...entry,
    slot: { ...slot, answer, answerSafely: answer({ result: { outcome: { outcome: "cancelled" } } }) }
  }
}

/** Claims that nobody's scope closes. */
const claimsForEver: Faults["connections"] = (connections) => ({
  ...connections,
  claim: (name, launch) => Scope.provide(connections.claim(name, launch), Scope.makeUnsafe())
})

interface Plant {
  readonly bug: string
  readonly faults?: Faults
  readonly world: World | undefined
  readonly found: RegExp
  readonly within: number
}

const plants: ReadonlyArray<Plant> = [
  {
    bug: "a terminal is said twice",
    faults: { journal: terminalTwice },
    world: turnWorlds["open, prompt and close"],
    found: /t1 has 2 terminals/,
    within: 1
  },
  {
    bug: "an event is lost",
    faults: { journal: lossy },
    world: turnWorlds["open, prompt and close"],
    found: /t1 has \d of \d words/,
    within: 20
  },
  {
    bug: bugs.slotTwice,
    faults: { connections: slotsTwice },
    world: requestWorlds["a permission that two answer at once"],
    found: /was answered twice/,
    within: 2
  },
  {
    bug: bugs.recordedFirst,
    world: requestWorlds["a permission that two answer at once"],
    found: /is recorded before its write/,
    within: 2
  },
  {
    bug: bugs.notNoted,
    faults: { journal: slow },
    world: {
      agents: [{ deaf: true, steps: [({ frame, say }) => say(2, respond(frame, { stopReason: "end_turn" }))] }],
      host: during((session) => after(80, session.cancel("t1")))
    },
    found: /a cancel without a prompt that is at work/,
    within: 40
  },
  {
    bug: bugs.twoAtOnce,
    world: turnWorlds["a cancel of a turn that waits"],
    found: /came while t\d was at work/,
    within: 2
  },
  {
    bug: bugs.noFinalizers,
    world: lifeWorlds["a defect somewhere in a turn, and one after it"],
    found: /deadlock|budget|live fibers/,
    within: 20
  },
  {
    bug: "a claim has no finalizer",
    faults: { connections: claimsForEver },
    world: turnWorlds["open, prompt and close"],
    found: /live fibers/,
    within: 20
  }
]

describe("the ledger finds a planted bug", () => {
  afterEach(() => {
    planted.bug = ""
  })

  for (const { bug, faults, world, found, within } of plants) {
    it(`${bug}: within ${within} schedules`, () => {
      planted.bug = bug
      const own = world!.faults
      const mixed = faults === undefined ? world! : { ...world!, faults: () => ({ ...own?.(), ...faults }) }
      const { violations } = explore({ ...mixed, reaches: [] }, within, (what) => found.test(what))
      expect(violations.map(({ what }) => what)).toContainEqual(expect.stringMatching(found))
    })
  }
})
