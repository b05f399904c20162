/**
 * The assembled runtime: what a host provides to its program.
 *
 * Guarantees: releasing the layer ends every session and process of it, and awaits the proof. It installs no signal handler: a
 * host that wants a clean end on a signal interrupts the program that the layer is provided to. Errors: `PlatformUnsupported`
 * on Windows and on an old Node; those of the store.
 */
import * as Layer from "effect/Layer"
import * as Connections from "../actors/Connections.ts"
import * as durableJournal from "../actors/durableJournal.ts"
import * as Journal from "../actors/Journal.ts"
import * as Registry from "../actors/kernel/Registry.ts"
import * as Runner from "../actors/Runner.ts"
import * as Runs from "../actors/Runs.ts"
import type { PlatformUnsupported, StoreFailed } from "../schema/errors.ts"
import type { AgentLinks } from "../services/AgentLink.ts"
import * as Ids from "../services/Ids.ts"
import type { JournalStore } from "../services/JournalStore.ts"
import type { Os } from "../services/Os.ts"
import type { Providers } from "../services/Providers.ts"
import * as NodeFiles from "./NodeFiles.ts"
import * as NodeOs from "./process/NodeOs.ts"
import * as ProcessLinks from "./process/ProcessLinks.ts"
import * as catalogue from "./providers/catalogue.ts"

/** The runner over any kind of link. */
export const overLinks: Layer.Layer<Runner.Runner, never, AgentLinks> = Runner.layer.pipe(
  Layer.provide(Connections.layer),
  Layer.provide(Journal.layer),
  Layer.provide(Layer.mergeAll(Registry.layer, Ids.layer, NodeFiles.layer))
)

/** `AgentLinks` by processes of this host, and the operating system below them. */
export const processLinks = (options: NodeOs.NodeOsOptions = {}): Layer.Layer<AgentLinks | Os, PlatformUnsupported> =>
  ProcessLinks.layer.pipe(Layer.provide(Ids.layer), Layer.provideMerge(NodeOs.layer(options)))

export const layer = (options: NodeOs.NodeOsOptions = {}): Layer.Layer<Runner.Runner, PlatformUnsupported> =>
  Layer.provide(overLinks, processLinks(options))

/** What serves control planes: their runs, the log that they read, and the runner beside them. */
export type Durable = Runs.Runs | Runner.Runner | durableJournal.DurableJournal | Journal.Journal

/** The durable runner over any kind of link, store and agents. */
export const durableOverLinks = (
  options: Runs.RunsOptions & durableJournal.DurableJournalOptions
): Layer.Layer<Durable, StoreFailed, AgentLinks | JournalStore | Providers> =>
  Runs.layer(options).pipe(
    Layer.provideMerge(Runner.layer),
    Layer.provide(Connections.layer),
    Layer.provideMerge(durableJournal.layer(options)),
    Layer.provide(Layer.mergeAll(Registry.layer, Ids.layer, NodeFiles.layer))
  )

/**
 * The durable runner by processes of this host, with the agents of the catalogue. What an earlier process left in the store
 * is ended, and said to be, before anything else.
 */
export const durable = <E>({
  store,
  os = {},
  providers = catalogue.layer(),
  ...options
}: Runs.RunsOptions &
  durableJournal.DurableJournalOptions & {
    readonly store: Layer.Layer<JournalStore, E>
    readonly os?: NodeOs.NodeOsOptions
    readonly providers?: Layer.Layer<Providers>
  }): Layer.Layer<Durable, E | PlatformUnsupported | StoreFailed> =>
  Layer.provide(durableOverLinks(options), [processLinks(os), store, providers])
