/** A file of the workspace that an agent points to, with a preview. Closed. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { Digest } from "../../identity.ts"
import { limits } from "../../limits.ts"
import { Name, nullableText, Revision, safePath } from "./primitives.ts"

export const FileReference = Schema.Struct({
  schema: Schema.Literal("paperclip.workspace.file_reference.v1"),
  referenceId: Name,
  source: Schema.Literals(["harness_reported", "runner_verified"]),
  path: safePath(1, limits.changedPathCharactersMax),
  displayName: textOf(1, limits.displayNameCharactersMax),
  mediaType: nullableText(limits.prpLabelCharactersMax),
  presentation: Schema.Literals(["document", "code", "image", "generic"]),
  line: Schema.NullOr(Revision),
  preview: nullableText(limits.filePreviewCharactersMax),
  previewTruncated: Schema.Boolean,
  contentDigest: Schema.NullOr(Digest)
})
export type FileReference = typeof FileReference.Type
