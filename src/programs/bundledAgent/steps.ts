/** What the bundled agent can do in a turn, each with the words it says about it. */
import { edited } from "../promptRules.ts"
import type { Step } from "../promptRules.ts"
import { runCommand } from "./shellCommand.ts"
import { endTool, mayRun, newMessageId, say, send, startTool, textContent, updateTool } from "./turn.ts"
import type { Tool, Turn } from "./turn.ts"
import { FileRefused, fileToRead, listFiles, pathInside, readText, replaceText } from "./workspace.ts"

/** What a step came to. After a rejection nothing else is done. */
export interface StepEnd {
  readonly report: string
  readonly rejected: boolean
}

const done = (report: string): StepEnd => ({ report, rejected: false })

/** Lists the workspace and reads one file. Reading needs no permission. */
export const look = async (turn: Turn, wanted: string | undefined): Promise<void> => {
  const { cwd } = turn.session
  const names = listFiles(cwd)
  const listing = await startTool(turn, { title: "List the workspace", kind: "search", rawInput: { folder: cwd } })
  await endTool(turn, listing, "completed", {
    content: [textContent(names.length === 0 ? "No files" : names.join("\n"))],
    rawOutput: { files: names.length }
  })
  const name = fileToRead(cwd, wanted)
  if (name === undefined) return
  const path = `${cwd}/${name}`
  const reading = await startTool(turn, {
    title: `Read ${name}`,
    kind: "read",
    locations: [{ path }],
    rawInput: { path }
  })
  try {
    const text = readText(pathInside(cwd, name)) ?? ""
    await endTool(turn, reading, "completed", { content: [textContent(text.split("\n").slice(0, 20).join("\n"))] })
  } catch (error) {
    turn.signal.throwIfAborted()
    await endTool(turn, reading, "failed", { content: [textContent(wordsOf(error))] })
  }
}

/** Changes a file of the workspace if the host allows it. */
export const edit = async (turn: Turn, step: Extract<Step, { _tag: "Edit" }>): Promise<StepEnd> => {
  const { cwd } = turn.session
  const target = targetOf(cwd, step.file)
  const before = "path" in target ? readText(target.path) : undefined
  const after = edited(before ?? "", step)
  const path = "path" in target ? target.path : `${cwd}/${step.file}`
  const diff = { type: "diff", path, oldText: before ?? null, newText: after } as const
  const tool: Tool = {
    title: `Edit ${step.file}`,
    kind: "edit",
    locations: [{ path }],
    content: [diff],
    rawInput: { path, text: step.text }
  }
  const id = await startTool(turn, tool)
  if ("refusal" in target) return failed(turn, id, target.refusal, `I did not change ${step.file}: ${target.refusal}.`)
  if (!(await mayRun(turn, id, tool)))
    return rejected(turn, id, `I did not change ${step.file}: it was rejected. I stop here.`)
  try {
    replaceText(target.path, before, after)
  } catch (error) {
    return failed(turn, id, wordsOf(error), `I could not change ${step.file}: ${wordsOf(error)}.`)
  }
  await endTool(turn, id, "completed", { content: [diff], rawOutput: { characters: after.length } })
  return done(`${before === undefined ? "I created" : "I changed"} ${step.file}.`)
}

const targetOf = (cwd: string, file: string): { readonly path: string } | { readonly refusal: string } => {
  try {
    return { path: pathInside(cwd, file) }
  } catch (error) {
    if (error instanceof FileRefused) return { refusal: error.message }
    throw error
  }
}

/** Runs a command in the workspace if the host allows it. Its output is shown while it runs. */
export const run = async (turn: Turn, step: Extract<Step, { _tag: "Run" }>): Promise<StepEnd> => {
  const { command } = step
  const tool: Tool = { title: command, kind: "execute", rawInput: { command } }
  const id = await startTool(turn, tool)
  if (!(await mayRun(turn, id, tool)))
    return rejected(turn, id, "I did not run the command: it was rejected. I stop here.")
  await updateTool(turn, { toolCallId: id, status: "in_progress" })
  const shown = outputStream(turn, id)
  const end = await runCommand(command, turn.session.cwd, turn.signal, shown.show)
  await shown.settled()
  turn.signal.throwIfAborted()
  const how = end.code === null ? `ended by ${end.signal ?? "an error"}` : `exit code ${end.code}`
  await endTool(turn, id, end.code === 0 ? "completed" : "failed", {
    content: [textContent(`${end.output}${end.output === "" || end.output.endsWith("\n") ? "" : "\n"}${how}`)],
    rawOutput: { exitCode: end.code, signal: end.signal, output: end.output }
  })
  return done(`I ran \`${command}\` (${how}).`)
}

/** Shows output as fast as the host takes it: what comes meanwhile is shown together. */
const outputStream = (turn: Turn, toolCallId: string) => {
  let latest: string | undefined
  let running: Promise<void> | undefined
  const pump = async (): Promise<void> => {
    while (latest !== undefined && !turn.signal.aborted) {
      const output = latest
      latest = undefined
      await updateTool(turn, { toolCallId, content: [textContent(output)] })
    }
    running = undefined
  }
  return {
    show: (output: string): void => {
      latest = output
      // An abort is noticed by the turn itself.
      running ??= pump().catch(() => undefined)
    },
    settled: async (): Promise<void> => {
      await running
    }
  }
}

const rejected = async (turn: Turn, id: string, report: string): Promise<StepEnd> => {
  await endTool(turn, id, "failed", { content: [textContent("Rejected")] })
  return { report, rejected: true }
}

const failed = async (turn: Turn, id: string, why: string, report: string): Promise<StepEnd> => {
  await endTool(turn, id, "failed", { content: [textContent(why)] })
  return done(report)
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const waitStepMs = 50

/** Says a word every 50 ms until the turn is cancelled. */
export const wait = async (turn: Turn): Promise<never> => {
  const messageId = newMessageId(turn)
  for (;;) {
    await send(turn, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "waiting " }, messageId })
    await new Promise((resolve) => setTimeout(resolve, waitStepMs))
  }
}

/** Ends the process in the middle of the turn. */
export const crash = async (turn: Turn): Promise<never> => {
  await say(turn, "I crash now.")
  process.exit(7)
}
