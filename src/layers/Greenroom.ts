/**
 * The assembled runtime: what a host provides to its program.
 *
 * Guarantees: releasing the layer ends every session and process of it, and awaits the proof. It installs no signal handler: a
 * host that wants a clean end on a signal interrupts the program that the layer is provided to. Errors: `PlatformUnsupported`
 * on Windows and on an old Node.
 */
import * as Layer from "effect/Layer"
import * as Connections from "../actors/Connections.ts"
import * as Journal from "../actors/Journal.ts"
import * as Registry from "../actors/kernel/Registry.ts"
import * as Runner from "../actors/Runner.ts"
import type { PlatformUnsupported } from "../schema/errors.ts"
import type { AgentLinks } from "../services/AgentLink.ts"
import * as Ids from "../services/Ids.ts"
import type { Os } from "../services/Os.ts"
import * as NodeFiles from "./NodeFiles.ts"
import * as NodeOs from "./process/NodeOs.ts"
import * as ProcessLinks from "./process/ProcessLinks.ts"

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
