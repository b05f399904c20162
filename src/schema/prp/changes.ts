/**
 * The diffs of a tool call as a change of the workspace. They are held until the call completes: before that, an agent only
 * proposes them, and a rejected call changes nothing.
 */
import { fitsCharacters } from "../characters.ts"
import { limits } from "../limits.ts"
import type { FileChange, WorkspaceDiff } from "./activity.ts"
import { lineDiff } from "./lineDiff.ts"
import { workspacePath } from "./workspacePath.ts"

/** A diff in the content of a tool call, decoded. */
export interface NativeDiff {
  readonly path: string
  /** `null`: the file did not exist. */
  readonly oldText: string | null
  readonly newText: string
}

export interface Changes {
  readonly files: ReadonlyArray<FileChange>
  /** Diffs without a safe path inside the workspace, and those beyond the bound of files. */
  readonly unplaced: number
}

export const noChanges: Changes = { files: [], unplaced: 0 }

export const changesOf = (diffs: ReadonlyArray<NativeDiff>, workspace: string): Changes => {
  const files: Array<FileChange> = []
  const room: Room = { compared: limits.comparedTextCharactersMax, shown: limits.changeSetDiffCharactersMax }
  for (const diff of diffs) {
    const path = workspacePath(diff.path, workspace, limits.changedPathCharactersMax)
    if (path === undefined || path === "." || files.length === limits.changedFilesMax) continue
    files.push(fileChange(path, diff, room))
  }
  return { files, unplaced: diffs.length - files.length }
}

/** What is left of the bounds that all files of a change share. */
interface Room {
  compared: number
  shown: number
}

export const workspaceDiff = (changeSetId: string, files: ReadonlyArray<FileChange>): WorkspaceDiff => ({
  schema: "paperclip.workspace.diff.v1",
  changeSetId,
  revision: 1,
  source: "harness_reported",
  complete: false,
  files,
  totals: { files: files.length, additions: total(files, "additions"), deletions: total(files, "deletions") },
  patchArtifactRef: null
})

const total = (files: ReadonlyArray<FileChange>, count: "additions" | "deletions"): number | null =>
  files.reduce<number | null>((sum, file) => (sum === null || file[count] === null ? null : sum + file[count]), 0)

/** An agent that creates a file gives no old text, `null` or an empty one. */
const fileChange = (path: string, { oldText, newText }: NativeDiff, room: Room): FileChange => {
  const before = oldText === "" ? null : oldText
  const operation = before === null ? "create" : "modify"
  const binary = newText.includes("\0") || (before ?? "").includes("\0")
  const size = newText.length + (before?.length ?? 0)
  if (binary || size > room.compared) {
    return { path, operation, previousPath: null, binary, additions: null, deletions: null, diff: null }
  }
  room.compared -= size
  return { path, operation, previousPath: null, binary, ...compared(path, before, newText, room) }
}

/** A diff that does not fit is left out whole: a cut one would not apply. */
const compared = (path: string, before: string | null, after: string, room: Room) => {
  const { additions, deletions, text } = lineDiff(path, before?.toWellFormed() ?? null, after.toWellFormed())
  const shown = fitsCharacters(text, Math.min(room.shown, limits.fileDiffCharactersMax))
  if (shown) room.shown -= text.length
  return { additions, deletions, diff: shown ? text : null }
}
