/**
 * A whole runner in one synchronous run: scripted agents below, host fibers above, a ledger beside. Everything between is the
 * production code; links, files and launches suspend as those of an operating system do.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Connections from "../../../src/actors/Connections.ts"
import * as Journal from "../../../src/actors/Journal.ts"
import * as Registry from "../../../src/actors/kernel/Registry.ts"
import * as Runner from "../../../src/actors/Runner.ts"
import { InvariantViolated } from "../../../src/schema/errors.ts"
import { type AgentLink, AgentLinks } from "../../../src/services/AgentLink.ts"
import { Files } from "../../../src/services/Files.ts"
import * as Ids from "../../../src/services/Ids.ts"
import type { Provider } from "../../../src/services/Provider.ts"
import { makeFakeLinks } from "../../../src/testing/FakeLinks.ts"
import type { MakeProgram } from "../../../src/testing/index.ts"
import type { Simulated } from "../../sim/explore.ts"
import { fakeProvider, openOptions } from "../host.ts"
import { valueAt } from "../observe.ts"
import { pause, type Script, scripted } from "./agent.ts"
import type { JournalBook } from "./journalBook.ts"
import { Ledger } from "./ledger.ts"
import { WatchedTable } from "./watchedTable.ts"

export interface World {
  /** One per agent, in the order of their starts; the last one for all others. */
  readonly agents: ReadonlyArray<Script>
  readonly host: (host: Host) => Effect.Effect<unknown, unknown, Scope.Scope>
  /** What stands between the actors and a service, such as a fault. Made for each run. */
  readonly faults?: () => Faults
  /** States that some run must get into; else the world no longer shows what it is for. */
  readonly reaches?: ReadonlyArray<string>
}

export interface Faults {
  readonly journal?: (journal: Journal.Journal["Service"]) => Journal.Journal["Service"]
  readonly connections?: (connections: Connections.Connections["Service"]) => Connections.Connections["Service"]
  readonly link?: (link: AgentLink) => AgentLink
  readonly realPath?: (path: string) => Effect.Effect<string | undefined>
  readonly provider?: (provider: Provider) => Provider
}

export interface Host {
  readonly ledger: Ledger
  readonly runner: Runner.Runner["Service"]
  readonly open: (
    options?: Partial<Runner.OpenOptions>
  ) => Effect.Effect<Runner.OpenedSession, Runner.OpenError, Scope.Scope>
  /** A prompt whose outcome two fibers wait for; its events are read unless `events` says otherwise. */
  readonly prompt: (
    session: Runner.OpenedSession,
    turnId: string,
    options?: Omit<Runner.PromptOptions, "turnId" | "events"> & { readonly events?: "read" | "stalled" | "discard" }
  ) => Effect.Effect<Prompt, Effect.Error<ReturnType<Runner.OpenedSession["prompt"]>>, Scope.Scope>
  /** Does what may fail, and notes how it did. */
  readonly tries: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<void, never, R>
}

export interface Prompt extends Runner.PromptHandle {
  /** Our id of the n-th request (from 0) of the turn; `undefined` once the turn has ended without so many. */
  readonly request: (n: number) => Effect.Effect<string | undefined>
}

/** The world as a program. */
export const simulate = (world: World): Simulated => ({
  make: programOf(world),
  reaches: world.reaches ?? [],
  // A run without progress never stops by itself: the timer of a stalled turn goes on for ever.
  maxSteps: 5_000,
  // A run of whole stretches has some 60 steps, one of split ones many more.
  interruptEvery: { whole: 3, split: 15 }
})

const programOf =
  (world: World): MakeProgram<unknown, unknown> =>
  (options) => {
    const ledger = new Ledger(options)
    const faults = world.faults?.() ?? {}
    const { layer, agents } = layersOf(world, faults, ledger)
    ledger.agents = agents
    const effect = Effect.gen(function* () {
      ledger.connections = yield* Connections.Connections
      const runner = yield* Runner.Runner
      const host = makeHost(ledger, runner, providerOf(ledger, faults), yield* Effect.scope)
      yield* Effect.ensuring(host.tries(Effect.scoped(world.host(host))), Effect.sync(ledger.hostClosed))
    })
    return {
      effect: effect.pipe(Effect.scoped, Effect.provide(layer), Effect.ensuring(Effect.sync(() => ledger.runEnded()))),
      violations: ledger.violations,
      reached: () => ledger.reached
    }
  }

const layersOf = (world: World, faults: Faults, ledger: Ledger) => {
  let starts = 0
  const links = makeFakeLinks((agent) => {
    const script = world.agents[Math.min(starts++, world.agents.length - 1)]
    return script === undefined ? Effect.void : scripted(script, ledger)(agent)
  })

  const slowLinks = Layer.effect(
    AgentLinks,
    Effect.map(AgentLinks, ({ open }) =>
      AgentLinks.of({
        open: (launch) =>
          Effect.map(Effect.tap(Effect.andThen(pause(2), open(launch)), pause(2)), (link) =>
            (faults.link ?? ((same) => same))(slow(link))
          )
      })
    )
  ).pipe(Layer.provide(links.layer))

  const files = Layer.succeed(Files, Files.of({ realPath: faults.realPath ?? ((path) => Effect.as(pause(3), path)) }))

  const connections = Layer.effect(
    Connections.Connections,
    Effect.map(Connections.Connections, (made) => {
      const service = faults.connections?.(made) ?? made
      return Connections.Connections.of({
        live: service.live,
        claim: (name, launch) =>
          Effect.map(service.claim(name, launch), (claim) => {
            const agent = links.agents.find((one) => one.launch === launch)
            if (agent === undefined) throw new InvariantViolated({ invariant: "test.agentOfLaunch", detail: name })
            return ledger.claimed(name, agent, claim)
          })
      })
    })
  ).pipe(Layer.provide(Connections.layer))

  const journal = Layer.effect(
    Journal.Journal,
    Effect.gen(function* () {
      const made = yield* Journal.Journal
      // Ends with the run, not with this layer: the last events come while it closes.
      const ofRun = Scope.makeUnsafe()
      const subscription = yield* Scope.provide(made.subscribe({}), ofRun)
      ledger.runEnded = subscription.end
      yield* Effect.forkIn(readAll(subscription, ledger.journal), ofRun, { startImmediately: true })
      ledger.journal.sequence = made.sequence
      const service = faults.journal?.(made) ?? made
      const recorded = <A>(
        entry: Journal.Entry,
        note: (entry: Journal.Entry) => (exit: Exit.Exit<A>) => void,
        effect: Effect.Effect<A>
      ) =>
        Effect.suspend(() => {
          ledger.recording(entry)
          const ended = note(entry)
          return Effect.onExit(effect, (exit) =>
            Effect.sync(() => {
              ended(exit)
              if (exit._tag === "Success") ledger.recorded(entry)
            })
          )
        })
      return Journal.Journal.of({
        ...service,
        append: (entry, draining) => recorded(entry, ledger.journal.append, service.append(entry, draining)),
        force: (entry) => recorded(entry, ledger.journal.force, service.force(entry))
      })
    })
  ).pipe(Layer.provide(Journal.layer))

  const registry = Layer.sync(Registry.Registry)(() => (ledger.registry = new WatchedTable()))

  const layer = Runner.layer.pipe(
    Layer.provideMerge(connections),
    Layer.provideMerge(journal),
    Layer.provideMerge(Layer.mergeAll(slowLinks, registry, Ids.layer, files))
  )
  return { layer, agents: links.agents }
}

const readAll = Effect.fnUntraced(function* (subscription: Journal.Subscription, book: JournalBook) {
  for (;;) {
    const batch = yield* subscription.take
    if (batch === undefined) return
    book.read(batch)
  }
})

/** As the operating system: nothing is done in the step in which it is asked for. */
const slow = (link: AgentLink): AgentLink => ({
  ...link,
  pull: Effect.andThen(pause(2), link.pull),
  write: (bytes) => Effect.andThen(pause(2), Effect.tap(link.write(bytes), pause(2))),
  close: Effect.andThen(pause(3), link.close),
  kill: Effect.andThen(pause(3), link.kill)
})

/** A provider whose launches hold a folder. */
const providerOf = (ledger: Ledger, { provider = (same) => same }: Faults): Provider =>
  provider({
    ...fakeProvider,
    launch: (options) =>
      Effect.andThen(
        Effect.acquireRelease(
          Effect.sync(() => ledger.folders++),
          () =>
            Effect.andThen(
              pause(2),
              Effect.sync(() => ledger.folders--)
            )
        ),
        fakeProvider.launch(options)
      )
  })

/** Whoever waits for an outcome does so in `outer`, which lives longer than the scope of the world's host. */
const makeHost = (ledger: Ledger, runner: Runner.Runner["Service"], provider: Provider, outer: Scope.Scope): Host => ({
  ledger,
  runner,
  tries: (effect) =>
    effect.pipe(
      Effect.tap((value) => Effect.sync(() => typeof value === "string" && ledger.reached.add(value))),
      Effect.asVoid,
      Effect.catch((error) =>
        Effect.sync(() => {
          const reason = valueAt(error, "reason")
          ledger.reached.add(String(valueAt(error, "_tag")) + (typeof reason === "string" ? ` ${reason}` : ""))
        })
      )
    ),
  open: (options) => runner.open({ ...openOptions, provider, ...options }),
  prompt: Effect.fnUntraced(function* (session, turnId, { events = "read", ...options } = {}) {
    const handle = yield* session.prompt(turnId, {
      ...options,
      turnId,
      events: events === "discard" ? "discard" : "read"
    })
    ledger.turns.accepted(turnId)
    const requests = makeRequests()
    const ended = Effect.tap(handle.outcome, (outcome) =>
      Effect.sync(() => {
        ledger.turns.heard(turnId, outcome)
        requests.end()
      })
    )
    for (let awaiters = 0; awaiters < 2; awaiters++) {
      yield* Effect.forkIn(
        Effect.suspend(() => (ledger.turns.awaiting(turnId), ended)),
        outer,
        { startImmediately: true }
      )
    }
    if (events === "read") yield* Effect.forkScoped(requests.read(handle), { startImmediately: true })
    return { ...handle, request: requests.request }
  })
})

/** The requests of a turn, as a host learns of them. */
const makeRequests = () => {
  const ids: Array<string> = []
  const waiting: Array<Deferred.Deferred<string | undefined>> = []
  let isEnded = false
  const at = (n: number) => (waiting[n] ??= Deferred.makeUnsafe())
  return {
    read: (handle: Runner.PromptHandle) =>
      Stream.runForEach(handle.events, (event) =>
        Effect.sync(() => {
          if (event.eventType !== "runtime_request.created") return
          const id = String(valueAt(event.payload, "request", "requestId"))
          Deferred.doneUnsafe(at(ids.push(id) - 1), Effect.succeed(id))
        })
      ),
    end: () => {
      isEnded = true
      for (const one of waiting) if (one !== undefined) Deferred.doneUnsafe(one, Effect.succeed(undefined))
    },
    request: (n: number) =>
      Effect.suspend(() => (isEnded && ids[n] === undefined ? Effect.succeed(undefined) : Deferred.await(at(n))))
  }
}
