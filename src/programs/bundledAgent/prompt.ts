/** One prompt of the bundled agent, from its content blocks to its stop reason. */
import type { AgentContext, ContentBlock, StopReason } from "@agentclientprotocol/sdk"
import { stepsOf } from "../promptRules.ts"
import type { Step } from "../promptRules.ts"
import { remember } from "./session.ts"
import type { Session } from "./session.ts"
import { crash, edit, look, run, wait } from "./steps.ts"
import type { StepEnd } from "./steps.ts"
import { closeTools, say, send, showPlan, think } from "./turn.ts"
import type { Turn } from "./turn.ts"

/** Never rejects because of a cancel: that ends in `cancelled`, with every tool call closed. */
export const runPrompt = async (
  session: Session,
  blocks: ReadonlyArray<ContentBlock>,
  client: AgentContext,
  signal: AbortSignal
): Promise<StopReason> => {
  const turn: Turn = { session, client, signal, openTools: new Set() }
  for (const content of blocks) remember(session, { sessionUpdate: "user_message_chunk", content })
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("")
  try {
    await nameSession(turn, text)
    await acknowledge(turn, blocks)
    await perform(turn, stepsOf(text))
    return "end_turn"
  } catch (error) {
    if (!signal.aborted) throw error
    await closeTools(turn)
    return "cancelled"
  }
}

const nameSession = async (turn: Turn, text: string): Promise<void> => {
  if (turn.session.title !== undefined) return
  const title = (text.trim().split("\n")[0] ?? "").slice(0, 80)
  turn.session.title = title
  await send(turn, { sessionUpdate: "session_info_update", title })
}

/** Says what came beside the text. */
const acknowledge = async (turn: Turn, blocks: ReadonlyArray<ContentBlock>): Promise<void> => {
  const lines = blocks.flatMap(describe)
  if (lines.length > 0) await say(turn, `${lines.join("\n")}\n`)
}

const describe = (block: ContentBlock): ReadonlyArray<string> => {
  switch (block.type) {
    case "image":
      return [`I see an image (${block.mimeType}, ${base64Bytes(block.data)} bytes).`]
    case "resource_link":
      return [`You point to ${block.name} (${block.uri}).`]
    case "resource": {
      const { resource } = block
      const size = "text" in resource ? Buffer.byteLength(resource.text) : base64Bytes(resource.blob)
      return [`You attached ${resource.uri} (${resource.mimeType ?? "unknown type"}, ${size} bytes).`]
    }
    default:
      return []
  }
}

const base64Bytes = (data: string): number => Buffer.from(data, "base64").length

const perform = async (turn: Turn, steps: ReadonlyArray<Step>): Promise<void> => {
  const works = steps.some((step) => step._tag === "Edit" || step._tag === "Run")
  const plan = works ? ["Look at the workspace", ...steps.map(titleOf), "Report"] : []
  if (works) {
    await think(turn, `The prompt asks for this: ${steps.map(titleOf).join(", then ")}. First I look at what is there.`)
    await showPlan(turn, plan, 0)
    await look(turn, steps.find((step) => step._tag === "Edit")?.file)
  }
  const reports: Array<string> = []
  for (const [index, step] of steps.entries()) {
    if (works) await showPlan(turn, plan, index + 1)
    const end = await performStep(turn, step)
    if (end !== undefined) reports.push(end.report)
    // The plan stays as it is: what was not done does not count as done.
    if (end?.rejected === true) return say(turn, reports.join("\n"))
  }
  if (!works) return
  await showPlan(turn, plan, plan.length - 1)
  await say(turn, reports.join("\n"))
  await showPlan(turn, plan, plan.length)
}

const titleOf = (step: Step): string => {
  switch (step._tag) {
    case "Say":
      return "Say something"
    case "Edit":
      return `${step.whole ? "Create" : "Add a line to"} ${step.file}`
    case "Run":
      return `Run ${step.command}`
    case "Wait":
      return "Wait"
    case "Crash":
      return "Crash"
  }
}

const performStep = async (turn: Turn, step: Step): Promise<StepEnd | undefined> => {
  switch (step._tag) {
    case "Say":
      await say(turn, step.text)
      return undefined
    case "Edit":
      return edit(turn, step)
    case "Run":
      return run(turn, step)
    case "Wait":
      return wait(turn)
    case "Crash":
      return crash(turn)
  }
}
