/** The runner of one run of the command, with its links observed and maybe recorded. */
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Runner } from "../actors/Runner.ts"
import * as Greenroom from "../layers/Greenroom.ts"
import * as recordedLinks from "../layers/recordedLinks.ts"
import type { PlatformUnsupported } from "../schema/errors.ts"
import type { AgentLinks } from "../services/AgentLink.ts"
import type { Fleet } from "./fleet.ts"

/** `record` gets the traffic of the agents; what else uses `AgentLinks` is not recorded. */
export const runnerLayer = (
  fleet: Fleet,
  record: ((lines: string) => Effect.Effect<void>) | undefined
): Layer.Layer<Runner | AgentLinks, PlatformUnsupported> => {
  const links = Layer.provide(fleet.layer, Greenroom.processLinks())
  const agentLinks = record === undefined ? links : Layer.provide(recordedLinks.layer(record), links)
  return Layer.merge(Layer.provide(Greenroom.overLinks, agentLinks), links)
}
