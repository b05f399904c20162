/** Bugs, one of each kind that the invariants of ownership are for: each is found within a stated number of schedules. */
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { InvariantViolated } from "../../../src/schema/errors.ts"
import type { Os } from "../../../src/services/Os.ts"
import { explore } from "../../sim/explore.ts"
import { type ProcessWorld, simulate } from "../../sim/processHost.ts"
import { processWorlds } from "../../sim/processWorlds.ts"

type OsService = Os["Service"]

/** A ladder that is told of nothing any more once the agent itself has exited. */
const stopsAtExit = (os: OsService): OsService => {
  const exited = new Set<string>()
  return {
    ...os,
    spawn: (request) =>
      Effect.map(os.spawn(request), (process) => ({
        ...process,
        exit: Effect.tap(process.exit, () => Effect.sync(() => exited.add(process.marker)))
      })),
    census: (marker) => (exited.has(marker) ? Effect.succeed([]) : os.census(marker))
  }
}

/** A second look that only says again what the first one found. */
const looksOnce = (os: OsService): OsService => {
  const empty = new Set<string>()
  return {
    ...os,
    census: (marker) =>
      Effect.suspend(() => {
        if (empty.delete(marker)) return Effect.succeed([])
        return Effect.tap(os.census(marker), (found) =>
          Effect.sync(() => {
            if (found.length === 0) empty.add(marker)
          })
        )
      })
  }
}

/** Every other host is taken for gone. */
const holdsAllForGone = (os: OsService): OsService => ({
  ...os,
  ledger: {
    ...os.ledger,
    foreign: Effect.map(os.ledger.foreign, (all) => all.map((ledger) => ({ ...ledger, hostGone: true })))
  }
})

const leavesPipesOpen = (os: OsService): OsService => ({
  ...os,
  spawn: (request) => Effect.map(os.spawn(request), (process) => ({ ...process, closePipes: Effect.void }))
})

const writesNoEntry = (os: OsService): OsService => ({ ...os, ledger: { ...os.ledger, add: () => Effect.void } })

const keepsEntries = (os: OsService): OsService => ({ ...os, ledger: { ...os.ledger, remove: () => Effect.void } })

/** Nothing is left, whatever is left. */
const seesNoSurvivors = (os: OsService): OsService => {
  let looks = 0
  return {
    ...os,
    census: (marker) => Effect.map(os.census(marker), (found) => (++looks > 10 ? [] : found)),
    readIdentity: () => Effect.undefined
  }
}

interface Plant {
  readonly bug: string
  readonly world: string
  readonly wrap?: ProcessWorld["wrap"]
  readonly machine?: Partial<ProcessWorld["machine"]>
  readonly found: RegExp
  readonly within: number
}

const plants: ReadonlyArray<Plant> = [
  {
    bug: "a signal goes to a number, not to an identity",
    world: "tools that come and go, and their numbers with them (marked)",
    machine: { signalsBlindly: true },
    found: /no signal hits/,
    within: 60
  },
  {
    bug: "the ladder stops at the agent's own exit",
    world: "an agent that dies at once and leaves a tool behind (marked)",
    wrap: stopsAtExit,
    found: /lives on/,
    within: 1
  },
  {
    bug: "a sweep looks once",
    world: "a tool in the middle of an exec while it is looked for (marked)",
    wrap: looksOnce,
    found: /lives on/,
    within: 1
  },
  {
    bug: "a host that is alive is reaped",
    world: "what a host left behind that is gone",
    wrap: holdsAllForGone,
    found: /not ours/,
    within: 1
  },
  {
    bug: "pipes are left open",
    world: "open, talk and close (marked)",
    wrap: leavesPipesOpen,
    found: /is open/,
    within: 1
  },
  {
    bug: "a launch that was refused stays in the ledger",
    world: "a launch that is refused, and one after it (marked)",
    wrap: keepsEntries,
    found: /nothing was started/,
    within: 1
  },
  {
    bug: "a launch is not written to the ledger",
    world: "open, talk and close (namespace)",
    wrap: writesNoEntry,
    found: /without an entry/,
    within: 1
  },
  {
    bug: "survivors are not named",
    world: "a process that cannot be killed (marked)",
    wrap: seesNoSurvivors,
    found: /lives on/,
    within: 1
  }
]

describe("the invariants of ownership find a planted bug", () => {
  for (const { bug, found, machine, within, world, wrap } of plants) {
    it(`${bug}: within ${within} schedules`, { timeout: 60_000 }, () => {
      const own = processWorlds[world]
      if (own === undefined) throw new InvariantViolated({ invariant: "test.world", detail: world })
      const planted: ProcessWorld = {
        ...own,
        machine: { ...own.machine, ...machine },
        reaches: [],
        ...(wrap === undefined ? {} : { wrap })
      }
      const { violations } = explore(simulate(planted), within, (what) => found.test(what))
      expect(violations.map(({ what }) => what)).toContainEqual(expect.stringMatching(found))
    })
  }
})
