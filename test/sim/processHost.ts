/**
 * Owned processes in one synchronous run: the fake operating system below, a host above; the links, the ladder, the sweep and
 * the reaping between them are the production code.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as ProcessLinks from "../../src/layers/process/ProcessLinks.ts"
import type { LaunchError } from "../../src/schema/errors.ts"
import { type AgentLink, AgentLinks, type CleanupReport, type Launch } from "../../src/services/AgentLink.ts"
import * as Ids from "../../src/services/Ids.ts"
import { gracesOf } from "../../src/services/ladder.ts"
import { Os, type ProcessIdentity } from "../../src/services/Os.ts"
import {
  type FakeLaunched,
  type FakeOs,
  type FakeOsScript,
  type LinkEnd,
  makeFakeOs,
  ownershipViolations,
  type MakeProgram,
  victim
} from "../../src/testing/index.ts"
import type { Simulated } from "./explore.ts"

export interface ProcessWorld {
  readonly machine: FakeOsScript
  /** Interrupted at every step. */
  readonly host: (host: ProcessHost) => Effect.Effect<unknown, unknown, Scope.Scope | AgentLinks>
  /** What stands between the links and the operating system, such as a fault. */
  readonly wrap?: (os: Os["Service"]) => Os["Service"]
  /** States that some run must get into; else the world no longer shows what it is for. */
  readonly reaches?: ReadonlyArray<string>
  /** What the machine got into, when all is over. */
  readonly states?: (os: FakeOs) => ReadonlyArray<string>
  /** What is wrong besides the invariants. */
  readonly violations?: (os: FakeOs) => ReadonlyArray<string>
}

export interface ProcessHost {
  readonly os: FakeOs
  readonly open: (launch?: Partial<Launch>) => Effect.Effect<AgentLink, LaunchError, Scope.Scope | AgentLinks>
  /** Does what may fail, and notes how it did. */
  readonly tries: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<void, never, R>
  readonly reach: (state: string) => Effect.Effect<void>
}

interface Opened {
  readonly link: AgentLink
  readonly launch: Launch
  isHurried: boolean
  report: CleanupReport | undefined
}

/** The world as a program. */
export const simulate = (world: ProcessWorld): Simulated => ({
  make: programOf(world),
  reaches: world.reaches ?? [],
  maxSteps: 20_000,
  interruptEvery: { whole: 3, split: 3 }
})

const programOf =
  (world: ProcessWorld): MakeProgram<unknown, unknown> =>
  () => {
    const reached = new Set<string>()
    const os = makeFakeOs(world.machine)
    const opened: Array<Opened> = []
    /** Opened by the host itself: they end with its scope. What a session has opened may outlive it for its own deadline. */
    const held: Array<ProcessIdentity | undefined> = []
    const reach = (state: string) => Effect.sync(() => void reached.add(state))
    const host: ProcessHost = {
      os,
      reach,
      open: (launch) =>
        Effect.flatMap(AgentLinks, (links) =>
          Effect.tap(links.open({ command: "agent", args: [], env: {}, cwd: "/", ...launch }), ({ identity }) =>
            Effect.sync(() => void held.push(identity))
          )
        ),
      tries: (effect) =>
        effect.pipe(
          Effect.asVoid,
          Effect.catch((error) => reach(String(Object(error)["_tag"])))
        )
    }
    const left: Array<string> = []
    /** Before anybody else closes what should be closed. */
    const look = (after: string, isOver: (launch: FakeLaunched) => boolean) => {
      for (const launch of os.launches.filter(isOver)) {
        for (const pipe of launch.openPipes())
          left.push(`after the end of ${after} ${pipe} of ${launch.backend} is open`)
      }
    }
    const effect = Effect.gen(function* () {
      yield* victim(host.tries(Effect.scoped(world.host(host)))).pipe(
        Effect.andThen(Effect.sync(() => look("its scope", ({ main }) => held.some(isSame(main.identity))))),
        Effect.provide(layerOf(world, os, opened))
      )
      look("its layer", () => true)
      // What a finalizer has reported.
      for (const one of opened) {
        const report = (one.report = yield* one.link.close)
        reached.add(stateOf(report))
      }
    })
    const ends = () =>
      opened.map((one): LinkEnd => ({ ...one, identity: one.link.identity, graces: gracesOf(one.launch) }))
    const violations = () => {
      for (const state of world.states?.(os) ?? []) reached.add(state)
      return [...left, ...ownershipViolations(os, ends()), ...(world.violations?.(os) ?? [])]
    }
    return { effect, violations, reached: () => reached }
  }

const isSame = (identity: ProcessIdentity) => (other: ProcessIdentity | undefined) =>
  other?.pid === identity.pid && other.startTime === identity.startTime

const layerOf = ({ wrap = (os) => os }: ProcessWorld, os: FakeOs, opened: Array<Opened>) => {
  const wrapped = Layer.effect(Os, Effect.map(Os, wrap)).pipe(Layer.provide(os.layer))
  const links = ProcessLinks.layer.pipe(Layer.provide(Layer.merge(wrapped, Ids.layer)))
  return Layer.effect(
    AgentLinks,
    Effect.map(AgentLinks, ({ open }) =>
      AgentLinks.of({ open: (launch) => Effect.map(open(launch), (link) => noted(link, launch, opened)) })
    )
  ).pipe(Layer.provide(links))
}

const noted = (link: AgentLink, launch: Launch, opened: Array<Opened>): AgentLink => {
  const one: Opened = { link, launch, isHurried: false, report: undefined }
  opened.push(one)
  return {
    ...link,
    kill: Effect.suspend(() => {
      one.isHurried = true
      return link.kill
    })
  }
}

const stateOf = ({ exit, steps, survivors }: CleanupReport) =>
  [exit._tag, ...steps, ...(survivors.length > 0 ? ["survivors"] : [])].join(" ")
