/** `greenroom agents`: which agents there are, how each starts, whether it is here, and what it asks before doing. */
import * as Effect from "effect/Effect"
import type { OutputClosed, ProfileInvalid } from "../schema/errors.ts"
import type { HostEnvironment, Located, Provider, Traits } from "../services/Provider.ts"
import { allAgents } from "./choosingAgent.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stdoutStream } from "./outputStream.ts"
import { type Paint, paintFor } from "./paint.ts"
import { shownLine } from "./shownText.ts"

/** Starts no agent. */
export const agents = Effect.fn("greenroom.agents")(function* (options: {
  readonly json: boolean
}): Effect.fn.Return<ExitCode, ProfileInvalid | OutputClosed> {
  const host: HostEnvironment = process.env
  const rows = yield* Effect.forEach(yield* allAgents(host), (provider) =>
    Effect.map(provider.locate(host), (located) => ({ provider, located }))
  )
  const stdout = stdoutStream()
  const paint = paintFor(stdout.isTerminal, process.env)
  yield* stdout.write(
    options.json
      ? jsonLine({ agents: rows.map(agentFact) })
      : rows.map((row) => `${agentLines(row, paint).join("\n")}\n`).join("")
  )
  return exitCodes.completed
})

export interface AgentRow {
  readonly provider: Provider
  readonly located: Located
}

/** One agent as JSON. What is not known is `null`. */
export const agentFact = ({ provider, located }: AgentRow) => ({
  id: provider.id,
  name: provider.name,
  found: located._tag === "Found",
  version: located._tag === "Found" ? (located.version ?? null) : null,
  command: located._tag === "Found" ? [located.command, ...located.args] : null,
  hint: located._tag === "Missing" ? located.hint : null,
  gate: provider.traits.gate
})

export const agentLines = ({ provider, located }: AgentRow, paint: Paint): ReadonlyArray<string> => {
  const title = `${paint.bold(shownLine(provider.id))} ${paint.dim(shownLine(provider.name))}`
  const gate = `  gate: ${gateText(provider.traits)}`
  if (located._tag === "Missing")
    return [`${paint.yellow("✗")} ${title}`, `  missing: ${shownLine(located.hint)}`, gate]
  return [
    `${paint.green("✓")} ${title} ${shownLine(located.version ?? "of unknown version")}`,
    `  starts: ${shownLine([located.command, ...located.args].join(" "))}`,
    gate
  ]
}

/** What each trait says of these effects: `asks` before edit, execute; `unknown` for fetch. */
const gateText = ({ gate }: Pick<Traits, "gate">): string => {
  const effects = ["edit", "execute", "fetch", "mcp"] as const
  return (["asks", "sandboxed", "silent", "unknown"] as const)
    .flatMap((trait) => {
      const those = effects.filter((effect) => gate[effect] === trait)
      return those.length === 0 ? [] : [`${trait}: ${those.join(", ")}`]
    })
    .join("; ")
}
