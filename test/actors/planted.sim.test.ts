/** Bugs, one of each kind at least that the ledger is for: it finds each within a stated number of schedules. */
import { afterEach, describe, expect, it, vi } from "vitest"
import { respond } from "./host.ts"
import { boundWorlds } from "./sim/boundWorlds.ts"
import { explore } from "../sim/explore.ts"
import { type Faults, simulate, type World } from "./sim/host.ts"
import { after, during } from "./sim/hosts.ts"
import { type InvariantName, invariantOf, invariants } from "./sim/invariants.ts"
import { lifeWorlds } from "./sim/lifeWorlds.ts"
import * as faulty from "./sim/plantedFaults.ts"
import { bugs, planted } from "./sim/plantedModules.ts"
import { requestWorlds } from "./sim/requestWorlds.ts"
import { turnWorlds } from "./sim/turnWorlds.ts"

vi.mock("../../src/schema/limits.ts", async (original) => (await modules()).plantedLimits(await original()))
vi.mock("../../src/schema/prp/event.ts", async (original) => (await modules()).plantedEvents(await original()))
vi.mock("../../src/actors/orderedQueue.ts", async (original) => (await modules()).plantedQueue(await original()))
vi.mock("../../src/actors/forkOwned.ts", async (original) => (await modules()).plantedFork(await original()))
vi.mock("../../src/actors/frameWriter.ts", async (original) => (await modules()).plantedWriter(await original()))
vi.mock("../../src/actors/requestState.ts", async (original) => (await modules()).plantedRequestState(await original()))
vi.mock("../../src/actors/RuntimeRequest.ts", async (original) => (await modules()).plantedRequest(await original()))
vi.mock("../../src/actors/turnState.ts", async (original) => (await modules()).plantedTurnState(await original()))
vi.mock("../../src/actors/Turn.ts", async (original) => (await modules()).plantedTurn(await original()))
vi.mock("../../src/actors/sessionTurns.ts", async (original) => (await modules()).plantedSessionTurns(await original()))
vi.mock("../../src/actors/kernel/Actor.ts", async (original) => (await modules()).plantedActor(await original()))

const modules = vi.hoisted(() => () => import("./sim/plantedModules.ts"))

interface Plant {
  readonly bug: string
  readonly invariant: InvariantName
  /** What the violation says; by default anything. */
  readonly says?: RegExp
  readonly faults?: () => Faults
  readonly world: World | undefined
  readonly within: number
}

const plain = turnWorlds["open, prompt and close"]
const twoAnswers = requestWorlds["a permission that two answer at once"]
const twoTurns = turnWorlds["a cancel of a turn that waits"]
const endOfTurn = requestWorlds["an answer with the end of its turn"]

const plants: ReadonlyArray<Plant> = [
  {
    bug: "a submission comes behind the start",
    invariant: "submittedFirst",
    faults: faulty.submittedLate,
    world: plain,
    within: 1
  },
  {
    bug: "a terminal is said twice",
    invariant: "oneTerminal",
    says: /t1 has 2 terminals/,
    faults: faulty.terminalTwice,
    world: plain,
    within: 1
  },
  {
    bug: "a terminal is not said",
    invariant: "oneTerminal",
    says: /t1 has 0 terminals/,
    faults: faulty.noTerminal,
    world: plain,
    within: 1
  },
  {
    bug: "something is said of a turn behind its terminal",
    invariant: "terminalLast",
    faults: faulty.afterTerminal,
    world: plain,
    within: 1
  },
  { bug: bugs.otherOutcome, invariant: "accounted", says: /t1 has two outcomes/, world: plain, within: 1 },
  {
    bug: bugs.noFinalizers,
    invariant: "accounted",
    says: /t1 has not ended, and nobody owns it/,
    world: lifeWorlds["a defect somewhere in a turn, and one after it"],
    within: 20
  },
  {
    bug: "an event is lost",
    invariant: "nothingLost",
    says: /t1 has \d of \d words/,
    faults: faulty.lossy,
    world: plain,
    within: 20
  },
  {
    bug: "a word is handed on twice",
    invariant: "nothingLost",
    says: /t1 has word \d behind word \d/,
    faults: faulty.wordsTwice,
    world: plain,
    within: 1
  },
  {
    bug: "words wait for the next turn",
    invariant: "nothingLost",
    says: /t\d has words that are not its own/,
    faults: faulty.wordsLate,
    world: twoTurns,
    within: 4
  },
  {
    bug: bugs.notCounted,
    invariant: "nothingLost",
    says: /t1 lacks \d+ events, and counts 0/,
    world: boundWorlds["a subscriber that stands still, and a cancel"],
    within: 10
  },
  {
    bug: bugs.slotTwice,
    invariant: "answeredOnce",
    says: /was answered twice/,
    faults: faulty.slotsTwice,
    world: twoAnswers,
    within: 2
  },
  {
    bug: "an id goes back as a text",
    invariant: "answeredOnce",
    says: /"1" was answered, and nobody asked it/,
    faults: faulty.idsAsText,
    world: twoAnswers,
    within: 2
  },
  { bug: bugs.nobodyAnswers, invariant: "answeredOnce", says: /1 requests are open/, world: endOfTurn, within: 10 },
  { bug: bugs.recordedFirst, invariant: "recordedAfterWrite", world: twoAnswers, within: 2 },
  { bug: bugs.requestsForgotten, invariant: "requestsEndFirst", world: endOfTurn, within: 10 },
  { bug: bugs.cancelTwice, invariant: "oneCancel", world: turnWorlds["a cancel at any time"], within: 40 },
  {
    bug: bugs.notNoted,
    invariant: "cancelInTime",
    faults: faulty.slow,
    world: {
      agents: [{ deaf: true, steps: [({ frame, say }) => say(2, respond(frame, { stopReason: "end_turn" }))] }],
      host: during((session) => after(80, session.cancel("t1")))
    },
    within: 40
  },
  {
    bug: "a cancel names another session",
    invariant: "addressed",
    faults: faulty.cancelsAnother,
    world: turnWorlds["a cancel that the agent does not hear, and a turn that waits"],
    within: 10
  },
  { bug: bugs.twoAtOnce, invariant: "onePrompt", says: /came while t\d was at work/, world: twoTurns, within: 2 },
  {
    bug: "a connection is not retired",
    invariant: "onePrompt",
    faults: faulty.neverRetires,
    says: /t2 went to a retired connection/,
    world: turnWorlds["a cancel that the agent does not hear, and a turn that waits"],
    within: 4
  },
  {
    bug: bugs.unbounded,
    invariant: "bounded",
    says: /more frames than the queue may hold/,
    faults: faulty.slow,
    world: boundWorlds["a flood that is read"],
    within: 4
  },
  { bug: bugs.numbers, invariant: "gapless", world: plain, within: 1 },
  {
    bug: "something is said of a session that is closed",
    invariant: "closedLast",
    faults: faulty.afterClosed,
    world: plain,
    within: 1
  },
  {
    bug: "a turn waits for its session",
    invariant: "noWaitUpwards",
    faults: faulty.turnWaitsUpwards,
    world: plain,
    within: 1
  },
  {
    bug: "a turn dies of what it is fed",
    invariant: "noDefect",
    says: /turn:t1: TypeError: an own defect/,
    faults: faulty.turnDies,
    world: plain,
    within: 1
  },
  {
    bug: "the end of one connection is the end of all",
    invariant: "isolated",
    faults: faulty.endsAll,
    world: lifeWorlds["two sessions, one of which dies"],
    within: 80
  },
  {
    bug: bugs.deafWriter,
    invariant: "heardAtOnce",
    faults: faulty.writesForEver,
    world: requestWorlds["a stdin that is full, an answer, and death"],
    within: 10
  },
  { bug: bugs.neverStarted, invariant: "progress", world: twoTurns, within: 2 },
  {
    bug: bugs.loose,
    invariant: "nothingLeft",
    says: /timers left/,
    world: turnWorlds["a deadline with the response"],
    within: 4
  },
  {
    bug: "a claim has no finalizer",
    invariant: "nothingLeft",
    says: /live fibers/,
    faults: faulty.claimsForEver,
    world: plain,
    within: 1
  },
  {
    bug: "a launch has no finalizer",
    invariant: "nothingLeft",
    says: /1 folders are left/,
    faults: faulty.foldersForEver,
    world: plain,
    within: 1
  }
]

describe("the ledger finds a planted bug", () => {
  afterEach(() => {
    planted.bug = ""
  })

  for (const { bug, invariant, says, faults, world, within } of plants) {
    it(`${bug}: within ${within} schedules`, () => {
      planted.bug = bug
      const own = world!.faults
      const mixed = faults === undefined ? world! : { ...world!, faults: () => ({ ...own?.(), ...faults() }) }
      const isFound = (what: string) => invariantOf(what) === invariant && says?.test(what) !== false
      const { violations } = explore(simulate({ ...mixed, reaches: [] }), within, isFound)
      expect(violations.map(({ what }) => what)).toSatisfy((found: ReadonlyArray<string>) => found.some(isFound))
    })
  }

  it("of every kind that the ledger is for", () => {
    const found = new Set<string>(plants.map(({ invariant }) => invariant))
    expect(Object.keys(invariants).filter((name) => !found.has(name))).toEqual([])
  })
})
