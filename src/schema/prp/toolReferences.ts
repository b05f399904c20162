/**
 * What a tool call points to, as events: every location inside the workspace and every linked file as
 * `workspace.file.referenced`, images and other media as `artifact.viewed`. Each once per call.
 */
import { shortText } from "../characters.ts"
import { stableIdOf } from "../identity.ts"
import { limits } from "../limits.ts"
import type { ArtifactViewed } from "./contract/activity.ts"
import type { FileReference } from "./contract/fileReference.ts"
import type { EventDraft } from "./event.ts"
import { fileOf, type Media } from "./media.ts"
import { draftIn, type ProjectionState } from "./projectionState.ts"

export type ToolReference =
  | {
      readonly _tag: "File"
      /** Relative to the workspace. */
      readonly path: string
      /** From one; `null`: none is known. */
      readonly line: number | null
      readonly mimeType: string | undefined
    }
  | { readonly _tag: "Media"; readonly reference: string; readonly media: Media }

/** A content block that is not text: a file, media, or `undefined` when nothing in it can be pointed to. */
export const referenceOf = (media: Media, uri: unknown, workspace: string): ToolReference | undefined => {
  const path = typeof uri === "string" ? fileOf(uri, workspace) : undefined
  if (path !== undefined) return { _tag: "File", path, line: null, mimeType: media.mimeType }
  const reference = isShareable(media.uri) ? media.uri : media.digest
  return reference === undefined ? undefined : { _tag: "Media", reference, media }
}

/** A place that means the same on another machine. */
const isShareable = (uri: string | undefined): uri is string =>
  uri !== undefined && /^(?!file:)[a-z][a-z0-9+.-]*:\S+$/i.test(uri) && !/(?:^|\/)\.\.(?:\/|$)/.test(uri)

export interface Referred {
  readonly drafts: ReadonlyArray<EventDraft>
  /** Ids of what the call has pointed to. */
  readonly referred: ReadonlySet<string>
  /** Beyond the bound. */
  readonly omitted: number
}

export const referenceDrafts = (
  state: ProjectionState,
  executionId: string,
  before: ReadonlySet<string>,
  references: ReadonlyArray<ToolReference>
): Referred => {
  const fresh = new Map<string, ToolReference>()
  for (const reference of references) {
    const id = idOf(executionId, reference)
    if (!before.has(id) && !fresh.has(id)) fresh.set(id, reference)
  }
  if (fresh.size === 0) return { drafts: [], referred: before, omitted: 0 }
  const shown = [...fresh].slice(0, Math.max(0, limits.toolReferencesMax - before.size))
  return {
    drafts: shown.map(([id, reference]) => draftOfReference(state, executionId, id, reference)),
    referred: new Set([...before, ...shown.map(([id]) => id)]),
    omitted: fresh.size - shown.length
  }
}

/** The same in the same call has the same id, and in another call another one. */
const idOf = (executionId: string, reference: ToolReference): string =>
  reference._tag === "File"
    ? stableIdOf("file", `${executionId} ${reference.line ?? ""} ${reference.path}`)
    : stableIdOf("artifact", `${executionId} ${reference.reference}`)

const draftOfReference = (state: ProjectionState, itemId: string, id: string, reference: ToolReference): EventDraft =>
  reference._tag === "File"
    ? draftIn(state, "workspace.file.referenced", fileReference(id, reference), { itemId })
    : draftIn(state, "artifact.viewed", artifactViewed(id, reference), { itemId })

const fileReference = (
  referenceId: string,
  { path, line, mimeType }: Extract<ToolReference, { readonly _tag: "File" }>
): FileReference => ({
  schema: "paperclip.workspace.file_reference.v1",
  referenceId,
  source: "harness_reported",
  path,
  displayName: shortText(path.slice(path.lastIndexOf("/") + 1), limits.displayNameCharactersMax),
  mediaType: mimeType === undefined ? null : label(mimeType),
  presentation: mimeType?.startsWith("image/") ? "image" : "generic",
  line,
  preview: null,
  previewTruncated: false,
  contentDigest: null
})

const artifactViewed = (
  artifactId: string,
  { reference, media }: Extract<ToolReference, { readonly _tag: "Media" }>
): ArtifactViewed => ({
  schema: "paperclip.artifact.viewed.v1",
  artifactId,
  reference,
  mediaType: media.mimeType === undefined ? null : label(media.mimeType),
  title: media.title ?? media.name ?? null
})

const label = (text: string): string => shortText(text, limits.prpLabelCharactersMax)
