/**
 * Updates about the session, not about a turn: mode, options, commands, title, notices and compaction. They may come at any
 * time and never count as a reply.
 */
import { shortText } from "../characters.ts"
import { stableIdOf } from "../identity.ts"
import { limits } from "../limits.ts"
import type { ProviderNotice } from "./activity.ts"
import { isAbsent, isNativeObject, nativeAt, type NativeObject } from "./native.ts"
import { projectItemNotice, projectMalformed, projectNotice } from "./updateNotice.ts"
import type { EventPayloads } from "./payload.ts"
import { draftIn, type ProjectionState, type Step } from "./projectionState.ts"
import { projectUsage } from "./usage.ts"

/** `undefined`: not an update of this family. */
export const projectSessionUpdate = (state: ProjectionState, update: NativeObject): Step | undefined => {
  switch (update["sessionUpdate"]) {
    case "usage_update":
      return projectUsage(state, update)
    case "current_mode_update":
      return updated(state, update, currentMode(update))
    case "config_option_update":
      return updated(state, update, configOptions(update))
    case "available_commands_update":
      return updated(state, update, availableCommands(update))
    case "session_info_update":
      return updated(state, update, sessionInfo(update))
    case "notice":
      return agentNotice(state, update)
    case "compaction_update":
      return compaction(state, update)
    case "compaction_summary_chunk":
      return typeof update["compactionId"] === "string" && isNativeObject(update["content"])
        ? compactionNotice(state, update, summaryOf([update["content"]]) ?? "The agent summarises the conversation.")
        : projectMalformed(state, update)
    default:
      return undefined
  }
}

type SessionUpdated = EventPayloads["session.updated"]

const updated = (state: ProjectionState, update: NativeObject, payload: SessionUpdated | undefined): Step =>
  payload === undefined
    ? projectMalformed(state, update)
    : [state, [draftIn(state, "session.updated", payload, { native: update })]]

const short = (text: string): string => shortText(text, limits.shortTextCharactersMax)

const currentMode = (update: NativeObject): SessionUpdated | undefined =>
  typeof update["currentModeId"] === "string"
    ? { aspect: "current_mode", currentModeId: short(update["currentModeId"]) }
    : undefined

const sessionInfo = (update: NativeObject): SessionUpdated | undefined => {
  const { title, updatedAt } = update
  if (!isTextOrAbsent(title) || !isTextOrAbsent(updatedAt)) return undefined
  return {
    aspect: "info",
    ...(title === undefined ? {} : { title: title === null ? null : short(title) }),
    ...(updatedAt === undefined ? {} : { updatedAt: updatedAt === null ? null : short(updatedAt) })
  }
}

const isTextOrAbsent = (value: unknown): value is string | null | undefined =>
  isAbsent(value) || typeof value === "string"

const configOptions = (update: NativeObject): SessionUpdated | undefined => {
  const listed = entriesOf(update["configOptions"], "id")
  if (listed === undefined) return undefined
  let room: number = limits.sessionListEntriesMax
  const options = listed.entries.map(({ entry, key }) => {
    const choices = choicesOf(entry["options"])
    const shown = choices.slice(0, room)
    room -= shown.length
    return {
      id: key,
      ...textProperty(entry, "type"),
      ...textProperty(entry, "name"),
      ...textProperty(entry, "description"),
      ...textProperty(entry, "category"),
      ...(typeof entry["currentValue"] === "boolean"
        ? { currentValue: entry["currentValue"] }
        : textProperty(entry, "currentValue")),
      ...(shown.length === 0 ? {} : { choices: shown }),
      ...(shown.length === choices.length ? {} : { choicesOmitted: choices.length - shown.length })
    }
  })
  return { aspect: "config_options", configOptions: options, ...listed.omitted }
}

/** Of a list, or of the groups of one. What has no value cannot be chosen. */
const choicesOf = (options: unknown) => {
  if (!Array.isArray(options)) return []
  const choices: Array<{ readonly value: string; readonly name?: string; readonly group?: string }> = []
  for (const option of options) {
    const inside = nativeAt(option, "options")
    const group = nativeAt(option, "name")
    if (!Array.isArray(inside)) addChoice(choices, option, undefined)
    else for (const choice of inside) addChoice(choices, choice, group)
  }
  return choices
}

const addChoice = (
  choices: Array<{ readonly value: string; readonly name?: string; readonly group?: string }>,
  option: unknown,
  group: unknown
): void => {
  const value = nativeAt(option, "value")
  const name = nativeAt(option, "name")
  if (typeof value !== "string") return
  choices.push({
    value: short(value),
    ...(typeof name === "string" ? { name: short(name) } : {}),
    ...(typeof group === "string" ? { group: short(group) } : {})
  })
}

const availableCommands = (update: NativeObject): SessionUpdated | undefined => {
  const listed = entriesOf(update["availableCommands"], "name")
  if (listed === undefined) return undefined
  const commands = listed.entries.map(({ entry, key }) => {
    const hint = nativeAt(entry["input"], "hint")
    return {
      name: key,
      ...textProperty(entry, "description"),
      ...(typeof hint === "string" ? { inputHint: short(hint) } : {})
    }
  })
  return { aspect: "available_commands", commands, ...listed.omitted }
}

const textProperty = (entry: NativeObject, key: string) =>
  typeof entry[key] === "string" ? { [key]: short(entry[key]) } : {}

/** The entries that have a text under `key`, up to the bound, and how many are left out. */
const entriesOf = (list: unknown, key: string) => {
  if (!Array.isArray(list)) return undefined
  const entries: Array<{ readonly entry: NativeObject; readonly key: string }> = []
  for (const entry of list) {
    const name = isNativeObject(entry) ? entry[key] : undefined
    if (typeof name === "string") entries.push({ entry, key: short(name) })
    if (entries.length === limits.sessionListEntriesMax) break
  }
  const omitted = list.length - entries.length
  return { entries, omitted: omitted === 0 ? {} : { entriesOmitted: omitted } }
}

const severities: Readonly<Record<string, ProviderNotice["severity"]>> = {
  info: "info",
  warning: "warning",
  error: "error"
}

const agentNotice = (state: ProjectionState, update: NativeObject): Step => {
  const { title, description, severity } = update
  if (typeof title !== "string" || !isTextOrAbsent(description)) return projectMalformed(state, update)
  const known = typeof severity === "string" && Object.hasOwn(severities, severity) ? severities[severity] : undefined
  const summary = isAbsent(description) ? title : `${title}\n${description}`
  return projectNotice(state, { category: "agent_notice", severity: known ?? "info", summary }, update)
}

const compaction = (state: ProjectionState, update: NativeObject): Step => {
  const { compactionId, error, status, summary } = update
  if (typeof compactionId !== "string" || typeof status !== "string") return projectMalformed(state, update)
  if (status !== "completed") {
    const what = `The agent's compaction is ${knownStatus(status)}.`
    return compactionNotice(state, update, typeof error === "string" ? `${what} ${error}` : what)
  }
  const payload = {
    schema: "paperclip.context.compacted.v1",
    compactionId: stableIdOf("compaction", compactionId),
    reason: "unknown",
    preTokens: null,
    postTokens: null,
    sameSession: true
  } as const
  const compacted = draftIn(state, "context.compacted", payload, { native: update })
  const told = summaryOf(summary)
  if (told === undefined) return [state, [compacted]]
  const facts = { category: "compaction", severity: "info", summary: told } as const
  const [next, notices] = projectItemNotice(state, facts, payload.compactionId)
  return [next, [compacted, ...notices]]
}

/** The text of the blocks that stand for the conversation from now on; the notice cuts it at its bound. */
const summaryOf = (blocks: unknown): string | undefined => {
  if (!Array.isArray(blocks)) return undefined
  const texts = blocks.map((block) => nativeAt(block, "text")).filter((text) => typeof text === "string" && text !== "")
  return texts.length === 0 ? undefined : `The agent's summary of the conversation: ${texts.join("\n")}`
}

const knownStatus = (status: string): string =>
  ["in_progress", "failed", "cancelled"].includes(status) ? status : "in a state that is not known here"

const compactionNotice = (state: ProjectionState, update: NativeObject, summary: string): Step =>
  projectNotice(state, { category: "compaction", severity: "info", summary }, update)
