/** What a session of ours offers to a control plane. */
import { shortText } from "../characters.ts"
import type { InitializeResult } from "../acp/protocol.ts"
import { limits } from "../limits.ts"
import type { CapabilitiesV2 } from "./contract/capabilities.ts"
import type { GoalCapability } from "./contract/goal.ts"

/** The protocol of the agents has none. */
export const noGoals: GoalCapability = {
  availability: "unsupported",
  actions: [],
  autonomousUpdates: false,
  persistentAcrossResume: false,
  maxObjectiveChars: limits.shortTextCharactersMax,
  tokenBudgetControl: false,
  usageReporting: false,
  reasonCode: "provider_has_no_goals"
}

export const capabilitiesOf = (agent: string, { agentInfo }: Pick<InitializeResult, "agentInfo">): CapabilitiesV2 => ({
  schema: "paperclip.prp.capabilities.v2",
  sessionReusePolicy: "new_per_run",
  driver: {
    kind: shortText(agent, limits.providerNameCharactersMax),
    version: shortText(agentInfo?.version || "unknown", limits.providerNameCharactersMax)
  },
  steer: false,
  interrupt: true,
  resume: false,
  runtimeRequests: true,
  structuredResult: false,
  typedEvents: true,
  typedEventFamilies: families.map((family) => ({
    family,
    version: 1,
    availability: "available",
    detailLevel: "structured"
  })),
  unsupported: ["turn.steer", "interaction.receipt", "semantic_tool.result", "session.budget.increase"],
  sessionGoals: noGoals
})

/** Of the typed families those that the protocol of the agents tells of. */
const families = ["plan", "tool.execution", "workspace.change", "workspace.file", "artifact.viewed", "provider.notice"]
