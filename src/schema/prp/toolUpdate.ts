/** Reading one `tool_call` or `tool_call_update`: every field by itself, so that a bad one does not hide the others. */
import { shortText } from "../characters.ts"
import { limits } from "../limits.ts"
import type { ToolOperation, ToolTransport } from "./activity.ts"
import { changesOf, type Changes, type NativeDiff } from "./changes.ts"
import { mediaOf } from "./media.ts"
import { isAbsent, isEmpty, isNativeObject, nativeAt, type NativeObject } from "./native.ts"
import { redactedJson } from "./redactedJson.ts"
import { referenceOf, type ToolReference } from "./toolReferences.ts"
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
  readonly references: ReadonlyArray<ToolReference>
  /** In words: what is pointed to, or put out, and has no place in an event. */
  readonly unplaced: ReadonlyArray<string>
  /** The arguments in words, bounded and without secrets. */
  readonly input?: string
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
  return {
    ...readKind(update["kind"]),
    ...readTexts(update),
    ...content,
    ...(locations.target === undefined ? {} : { target: locations.target }),
    references: [...locations.references, ...content.references],
    unplaced: [...locations.unplaced, ...content.unplaced],
    ...readInput(update["rawInput"]),
    malformed
  }
}

/** Some agents announce a call before they know its arguments, with empty ones. */
const readInput = (rawInput: unknown): { readonly input?: string } => {
  if (isEmpty(rawInput)) return {}
  const { isWhole, text } = redactedJson(rawInput)
  return { input: `The input of this tool call${isWhole ? "" : ", in part"}: ${text}` }
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

interface Locations {
  readonly target?: string | null
  readonly references: ReadonlyArray<ToolReference>
  readonly unplaced: ReadonlyArray<string>
  readonly malformed: boolean
}

/** The target is the first location that can be named; the protocol gives absolute paths. */
const readLocations = (locations: unknown, workspace: string): Locations => {
  if (isAbsent(locations)) return { references: [], unplaced: [], malformed: false }
  if (!Array.isArray(locations)) return { references: [], unplaced: [], malformed: true }
  const references: Array<ToolReference> = []
  let target: string | undefined
  let outside = 0
  let malformed = false
  for (const location of locations) {
    const path = nativeAt(location, "path")
    const line = nativeAt(location, "line")
    malformed ||= typeof path !== "string" || !(isAbsent(line) || isLine(line))
    if (typeof path !== "string") continue
    target ??= workspacePath(path, workspace, limits.toolTargetCharactersMax)
    const inside = workspacePath(path, workspace, limits.changedPathCharactersMax)
    if (inside === undefined) outside++
    else
      references.push({ _tag: "File", path: inside, line: isLine(line) && line > 0 ? line : null, mimeType: undefined })
  }
  const unplaced = outside === 0 ? [] : [`${outside} locations without a safe path inside the workspace`]
  return { target: target ?? null, references, unplaced, malformed }
}

/** The protocol counts from one, and its schema admits zero. */
const isLine = (line: unknown): line is number => typeof line === "number" && Number.isSafeInteger(line) && line >= 0

interface Content {
  readonly text?: string
  readonly changes?: Changes
  readonly references: ReadonlyArray<ToolReference>
  readonly unplaced: ReadonlyArray<string>
  readonly malformed: boolean
}

/** Content replaces what was there, so a list without text or diffs still says something. */
const readContent = (content: unknown, workspace: string): Content => {
  if (isAbsent(content)) return { references: [], unplaced: [], malformed: false }
  if (!Array.isArray(content)) return { references: [], unplaced: [], malformed: true }
  const texts: Array<string> = []
  const diffs: Array<NativeDiff> = []
  const references: Array<ToolReference> = []
  const unplaced: Array<string> = []
  let malformed = false
  for (const entry of content) {
    const read = readEntry(entry, workspace)
    if (read === undefined) malformed = true
    else if ("newText" in read) diffs.push(read)
    else {
      if (read.text !== undefined) texts.push(read.text)
      if (read.reference !== undefined) references.push(read.reference)
      if (read.unplaced !== undefined) unplaced.push(read.unplaced)
    }
  }
  const text = texts.length === 0 ? {} : { text: texts.join("\n") }
  return { ...text, changes: changesOf(diffs, workspace), references, unplaced: [...new Set(unplaced)], malformed }
}

interface Block {
  readonly text?: string
  readonly reference?: ToolReference
  readonly unplaced?: string
}

/** `undefined`: not of the protocol's shape. */
const readEntry = (entry: unknown, workspace: string): Block | NativeDiff | undefined => {
  const type = nativeAt(entry, "type")
  if (typeof type !== "string") return undefined
  if (type === "content") return readBlock(nativeAt(entry, "content"), workspace)
  return type === "diff" ? diffIn(entry) : { unplaced: `content of type ${wordOf(type)}` }
}

/** The text of an embedded resource is text that the tool has put out, like any other. */
const readBlock = (block: unknown, workspace: string): Block | undefined => {
  const type = nativeAt(block, "type")
  if (!isNativeObject(block) || typeof type !== "string") return undefined
  const text = nativeAt(block, ...(type === "resource" ? ["resource", "text"] : ["text"]))
  if (type === "text") return typeof text === "string" ? { text } : undefined
  const uri = nativeAt(block, ...(type === "resource" ? ["resource", "uri"] : ["uri"]))
  const reference = referenceOf(mediaOf(type, block), uri, workspace)
  return {
    ...(type === "resource" && typeof text === "string" ? { text } : {}),
    ...(reference === undefined ? { unplaced: `a content block of type ${wordOf(type)}` } : { reference })
  }
}

/** The agent's text, so it is shown only when it reads like a type. */
const wordOf = (type: string): string => (/^[A-Za-z0-9_./-]{1,80}$/.test(type) ? type : "without a readable name")

const diffIn = (entry: unknown): NativeDiff | undefined => {
  const path = nativeAt(entry, "path")
  const oldText = nativeAt(entry, "oldText") ?? null
  const newText = nativeAt(entry, "newText")
  return typeof path === "string" && typeof newText === "string" && (oldText === null || typeof oldText === "string")
    ? { path, oldText, newText }
    : undefined
}
