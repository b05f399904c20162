/** Reading one `tool_call` or `tool_call_update`: every field by itself, so that a bad one does not hide the others. */
import { shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import type { ToolOperation, ToolTransport } from "./activity.ts"
import { changesOf, type Changes, type NativeDiff } from "./changes.ts"
import { isAbsent, nativeAt, type NativeObject } from "./native.ts"
import { workspacePath } from "./workspacePath.ts"

/** What an update says. A missing field says nothing; `target: null` says that there is none. */
export interface ToolReading {
  readonly transport?: ToolTransport
  readonly operation?: ToolOperation
  readonly name?: string
  readonly title?: string
  readonly target?: string | null
  readonly status?: "completed" | "failed"
  readonly text?: string
  readonly changes?: Changes
  /** A field is there and is not what the protocol says. */
  readonly malformed: boolean
}

export const readToolUpdate = (update: NativeObject, workspace: string): ToolReading => {
  const content = readContent(update["content"], workspace)
  const locations = readLocations(update["locations"], workspace)
  const malformed =
    content.malformed ||
    locations.malformed ||
    ["kind", "name", "title", "status"].some((key) => !isAbsent(update[key]) && typeof update[key] !== "string")
  return { ...readKind(update["kind"]), ...readTexts(update), ...content, ...locations, malformed }
}

const readTexts = (update: NativeObject): Pick<ToolReading, "name" | "title" | "status"> => {
  const { name, title, status } = update
  return {
    ...(typeof name === "string" ? { name: shortText(name, limits.shortTextCharactersMax) } : {}),
    ...(typeof title === "string" ? { title: shortText(title, limits.shortTextCharactersMax) } : {}),
    ...(status === "completed" || status === "failed" ? { status } : {})
  }
}

interface Nature {
  readonly transport: ToolTransport
  readonly operation: ToolOperation
}

/** PRP's words for ACP's kinds. What a kind promises is the agent's claim. */
const natures: Readonly<Record<string, Nature>> = {
  read: { transport: "builtin", operation: "read" },
  search: { transport: "builtin", operation: "search" },
  edit: { transport: "builtin", operation: "edit" },
  delete: { transport: "builtin", operation: "edit" },
  move: { transport: "builtin", operation: "edit" },
  execute: { transport: "process", operation: "execute" },
  think: { transport: "builtin", operation: "unknown" },
  fetch: { transport: "builtin", operation: "unknown" },
  switch_mode: { transport: "builtin", operation: "unknown" }
}

export const unknownNature: Nature = { transport: "dynamic", operation: "unknown" }

const readKind = (kind: unknown): Partial<Nature> => {
  if (typeof kind !== "string") return {}
  return (Object.hasOwn(natures, kind) ? natures[kind] : undefined) ?? unknownNature
}

/** The target is the first location that can be named; the protocol gives absolute paths. */
const readLocations = (
  locations: unknown,
  workspace: string
): { readonly target?: string | null; readonly malformed: boolean } => {
  if (isAbsent(locations)) return { malformed: false }
  if (!Array.isArray(locations)) return { malformed: true }
  let target: string | undefined
  let malformed = false
  for (const location of locations) {
    const path = nativeAt(location, "path")
    if (typeof path !== "string") malformed = true
    else target ??= workspacePath(path, workspace, limits.toolTargetCharactersMax)
  }
  return { target: target ?? null, malformed }
}

interface Content {
  readonly text?: string
  readonly changes?: Changes
  readonly malformed: boolean
}

/** Content replaces what was there, so a list without text or diffs still says something. Unknown entries say nothing. */
const readContent = (content: unknown, workspace: string): Content => {
  if (isAbsent(content)) return { malformed: false }
  if (!Array.isArray(content)) return { malformed: true }
  const texts: Array<string> = []
  const diffs: Array<NativeDiff> = []
  let malformed = false
  for (const entry of content) {
    const type = nativeAt(entry, "type")
    const text = type === "content" ? textIn(entry) : undefined
    const diff = type === "diff" ? diffIn(entry) : undefined
    if (typeof text === "string") texts.push(text)
    if (diff !== undefined) diffs.push(diff)
    malformed ||= typeof type !== "string" || text === null || (type === "diff" && diff === undefined)
  }
  const text = texts.length === 0 ? {} : { text: texts.join("\n") }
  return { ...text, changes: changesOf(diffs, workspace), malformed }
}

/** `undefined`: a block that is not text. `null`: no block. */
const textIn = (entry: unknown): string | null | undefined => {
  const block = nativeAt(entry, "content")
  const type = nativeAt(block, "type")
  if (typeof type !== "string") return null
  if (type !== "text") return undefined
  const text = nativeAt(block, "text")
  return typeof text === "string" ? text : null
}

const diffIn = (entry: unknown): NativeDiff | undefined => {
  const path = nativeAt(entry, "path")
  const oldText = nativeAt(entry, "oldText") ?? null
  const newText = nativeAt(entry, "newText")
  return typeof path === "string" && typeof newText === "string" && (oldText === null || typeof oldText === "string")
    ? { path, oldText, newText }
    : undefined
}
