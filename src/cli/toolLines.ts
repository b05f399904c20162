/** A tool call on the screen: one line when it has ended, below it the diff of an edit or the end of a command's output. */
import type { FileChange, ToolExecution } from "../schema/prp/activity.ts"
import { limits } from "../schema/limits.ts"
import { diffLines } from "./diffLines.ts"
import type { Paint } from "./paint.ts"
import { headLines, shownLine, shownLines, tailLines } from "./shownText.ts"

/** A tool call that has not ended. */
export interface RunningTool {
  readonly operation: ToolExecution["operation"]
  readonly title: string | undefined
  readonly name?: string | null
  readonly target?: string | null
}

/** `read README.md`: what it does, in the agent's words. */
export const toolTitle = (tool: RunningTool): string =>
  `${words[tool.operation]} ${shownLine(tool.title ?? tool.name ?? tool.target ?? "")}`.trim()

/** `title`: the last one known before the end. */
export const toolLines = (
  tool: ToolExecution,
  title: string | undefined,
  changes: ReadonlyArray<FileChange>,
  paint: Paint
): ReadonlyArray<string> => {
  const isClosedByUs = tool.status === "cancelled" || tool.status === "interrupted"
  const shown = toolTitle({ ...tool, title: isClosedByUs ? title : (tool.progress ?? title) })
  return [
    `${markOf(tool.status, paint)} ${shown}${factsOf(tool, changes, paint)}`,
    ...changes.flatMap((change) => changeLines(change, changes.length > 1, paint)),
    ...(showsOutput(tool) ? outputLines(tool, paint) : [])
  ]
}

const words: Record<ToolExecution["operation"], string> = {
  read: "read",
  search: "search",
  list: "list",
  execute: "run",
  edit: "edit",
  unknown: "tool"
}

const markOf = (status: ToolExecution["status"], paint: Paint): string => {
  switch (status) {
    case "completed":
      return paint.green("✓")
    case "failed":
      return paint.red("✗")
    default:
      return paint.yellow("■")
  }
}

const factsOf = (tool: ToolExecution, changes: ReadonlyArray<FileChange>, paint: Paint): string => {
  const facts = [
    ...(typeof tool.exitCode === "number" ? [`exit code ${tool.exitCode}`] : []),
    ...(tool.status === "cancelled" || tool.status === "interrupted" ? [tool.status] : []),
    ...(changes.length === 1 ? changes.map(countsOf) : [])
  ]
  return facts.length === 0 ? "" : paint.dim(` (${facts.join(", ")})`)
}

const countsOf = ({ additions, deletions }: FileChange): string =>
  additions === null || deletions === null ? "changes not counted" : `+${additions} -${deletions}`

const changeLines = (change: FileChange, named: boolean, paint: Paint): ReadonlyArray<string> => {
  const lines = diffLines(change.diff ?? "")
  const shown = headLines(
    lines.map(({ text }) => text),
    limits.shownDiffLinesMax
  )
  return [
    ...(named ? [`  ${paint.bold(shownLine(change.path))} ${paint.dim(countsOf(change))}`] : []),
    ...shown.map((text, index) => `    ${(lines[index]?.text === text ? lines[index].style(paint) : paint.dim)(text)}`)
  ]
}

/** What was read or found is for the agent; what a command said, or why something failed, is for people. */
const showsOutput = (tool: ToolExecution): boolean => tool.operation === "execute" || tool.status === "failed"

const outputLines = (tool: ToolExecution, paint: Paint): ReadonlyArray<string> =>
  tailLines(shownLines(tool.output ?? "", limits.toolOutputCharactersMax), limits.shownOutputLinesMax).map((line) =>
    paint.dim(`    ${line}`)
  )
