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
  let room: number = limits.changeSetDiffCharactersMax
  for (const diff of diffs) {
    const path = workspacePath(diff.path, workspace, limits.changedPathCharactersMax)
    if (path === undefined || path === "." || files.length === limits.changedFilesMax) continue
    const file = fileChange(path, diff, Math.min(room, limits.fileDiffCharactersMax))
    room -= file.diff?.length ?? 0
    files.push(file)
  }
  return { files, unplaced: diffs.length - files.length }
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
const fileChange = (path: string, { oldText, newText }: NativeDiff, diffCharactersMax: number): FileChange => {
  const before = oldText === "" ? null : oldText
  const unknown = { additions: null, deletions: null, diff: null }
  const binary = newText.includes("\0") || (before ?? "").includes("\0")
  const comparable = !binary && newText.length + (before?.length ?? 0) <= limits.comparedTextCharactersMax
  const counted = comparable ? compared(path, before, newText, diffCharactersMax) : unknown
  return { path, operation: before === null ? "create" : "modify", previousPath: null, binary, ...counted }
}

/** A diff that does not fit is left out whole: a cut one would not apply. */
const compared = (path: string, before: string | null, after: string, diffCharactersMax: number) => {
  const { additions, deletions, text } = lineDiff(path, before?.toWellFormed() ?? null, after.toWellFormed())
  return { additions, deletions, diff: fitsCharacters(text, diffCharactersMax) ? text : null }
}
