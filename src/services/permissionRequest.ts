/**
 * Makes our view of a `session/request_permission`: safe to show, bounded, with the agent's originals beside it.
 *
 * It judges nothing but the shape: duplicate option ids, too many options (one past the bound is kept) and foreign kinds pass;
 * `decide` rules on them.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fitsCharacters } from "../schema/characters.ts"
import { displayLine, displayText } from "../schema/displayText.ts"
import { RequestMalformed } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import {
  type NativeRequestId,
  OptionKind,
  type PermissionOption,
  type PermissionRequest,
  type RequestContent,
  RequestKind
} from "../schema/request.ts"
import { permissionTarget } from "./permissionTarget.ts"

export interface RequestOrigin {
  readonly requestId: string
  readonly turnId: string
  readonly nativeId: NativeRequestId
  /** Absolute names of the workspace: its own first, then its real path. */
  readonly workspaceRoots: ReadonlyArray<string>
}

/** Errors: `RequestMalformed` when a required field is missing or of a wrong type. Unknown fields and values are tolerated. */
export const permissionRequest = (
  params: unknown,
  origin: RequestOrigin
): Result.Result<PermissionRequest, RequestMalformed> =>
  Result.mapBoth(decodeParams(params), {
    onFailure: () =>
      new RequestMalformed({ method: "session/request_permission", issue: "required fields are missing" }),
    onSuccess: ({ sessionId, toolCall, options }) => {
      const kind = kindOf(toolCall.kind)
      const locations = toolCall.locations ?? []
      const content = toolCall.content ?? []
      return {
        requestId: origin.requestId,
        turnId: origin.turnId,
        sessionId,
        nativeId: origin.nativeId,
        toolCallId: displayLine(toolCall.toolCallId, limits.optionIdCharactersMax),
        title: displayLine(toolCall.title ?? "", limits.requestTitleCharactersMax),
        kind,
        target: permissionTarget({ kind, locations, content, rawInput: toolCall.rawInput }, origin.workspaceRoots),
        options: optionViews(options.slice(0, limits.requestOptionsMax + 1)),
        locations: locations.slice(0, limits.requestLocationsMax).flatMap(locationView),
        content: content.slice(0, limits.requestContentBlocksMax).map(contentView),
        raw: params
      }
    }
  })

const Params = Schema.Struct({
  sessionId: Schema.String,
  toolCall: Schema.Struct({
    toolCallId: Schema.String,
    title: Schema.optional(Schema.NullOr(Schema.String)),
    kind: Schema.optional(Schema.NullOr(Schema.String)),
    locations: Schema.optional(Schema.NullOr(Schema.Array(Schema.Unknown))),
    content: Schema.optional(Schema.NullOr(Schema.Array(Schema.Unknown))),
    rawInput: Schema.optional(Schema.Unknown)
  }),
  options: Schema.Array(Schema.Struct({ optionId: Schema.String, name: Schema.String, kind: Schema.String }))
})
const decodeParams = Schema.decodeUnknownResult(Params)

const isKind = Schema.is(RequestKind)
const kindOf = (word: string | null | undefined): RequestKind => (isKind(word) ? word : "unknown")

const isOptionKind = Schema.is(OptionKind)

/** Ids that differ stay different: the second that looks the same once made safe gets a number. */
const optionViews = (options: (typeof Params.Type)["options"]): ReadonlyArray<PermissionOption> => {
  const nativeIds = new Set(options.map((option) => option.optionId))
  const shownFor = new Map<string, string>()
  const taken = new Set<string>()
  const shownId = (nativeId: string): string => {
    const known = shownFor.get(nativeId)
    if (known !== undefined) return known
    const plain = displayLine(nativeId, limits.optionIdCharactersMax)
    let shown = plain
    for (let n = 2; taken.has(shown) || (shown !== nativeId && nativeIds.has(shown)); n++) shown = `${plain}~${n}`
    shownFor.set(nativeId, shown)
    taken.add(shown)
    return shown
  }
  return options.map((option) => ({
    optionId: shownId(option.optionId),
    nativeOptionId: option.optionId,
    name: displayLine(option.name, limits.optionNameCharactersMax),
    kind: isOptionKind(option.kind) ? option.kind : "unknown"
  }))
}

const Location = Schema.Struct({ path: Schema.String })
const isLocation = Schema.is(Location)
const locationView = (location: unknown): ReadonlyArray<string> =>
  isLocation(location) ? [displayLine(location.path, limits.targetPathCharactersMax)] : []

const Diff = Schema.Struct({
  type: Schema.Literal("diff"),
  path: Schema.String,
  oldText: Schema.optional(Schema.NullOr(Schema.String)),
  newText: Schema.String
})
const TextBlock = Schema.Struct({
  type: Schema.Literal("content"),
  content: Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
})
const isDiff = Schema.is(Diff)
const isTextBlock = Schema.is(TextBlock)
const isTyped = Schema.is(Schema.Struct({ type: Schema.String }))

const contentView = (block: unknown): RequestContent => {
  const max = limits.requestContentCharactersMax
  if (isDiff(block)) {
    const oldText = block.oldText ?? null
    return {
      _tag: "Diff",
      path: displayLine(block.path, limits.targetPathCharactersMax),
      oldText: oldText === null ? null : displayText(oldText, max),
      newText: displayText(block.newText, max),
      truncated: !fitsCharacters(block.newText, max) || !fitsCharacters(oldText ?? "", max)
    }
  }
  if (isTextBlock(block)) {
    const text = block.content.text
    return { _tag: "Text", text: displayText(text, max), truncated: !fitsCharacters(text, max) }
  }
  return { _tag: "Other", type: isTyped(block) ? displayLine(block.type, limits.optionIdCharactersMax) : "unknown" }
}
