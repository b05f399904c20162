/**
 * What a tool call has put out, and the exit code where the agent gives one. The end of the output is kept; bytes and digest
 * are of the whole. Known places beyond the protocol's own content: `rawOutput`, and the `_meta` of terminals that several
 * adapters write although the client offered none.
 */
import { detached, fitsCharacters, lastCharacters, utf8Bytes } from "../characters.ts"
import { digestOf } from "../identity.ts"
import { limits } from "../limits.ts"
import type { ToolExecution } from "./activity.ts"
import { nativeAt, type NativeObject } from "./native.ts"

export interface ToolOutput {
  /** `null`: none was given, which is not an empty one. */
  readonly text: string | null
  readonly bytes: number
  readonly truncated: boolean
  /** Of the whole, where it was cut and the whole was seen at once. */
  readonly wholeDigest: string | null
}

export const noOutput: ToolOutput = { text: null, bytes: 0, truncated: false, wholeDigest: null }

/** The output is this text and replaces what was there. */
const wholeOutput = (given: string): ToolOutput => {
  const text = given.toWellFormed()
  const bytes = utf8Bytes(text)
  return fitsCharacters(text, limits.toolOutputCharactersMax)
    ? { text, bytes, truncated: false, wholeDigest: null }
    : { text: endOf(text), bytes, truncated: true, wholeDigest: digestOf(text) }
}

/** The output goes on. Once it is cut the whole is not there any more, and its digest is unknown. */
const moreOutput = (output: ToolOutput, given: string): ToolOutput => {
  const more = given.toWellFormed()
  const text = (output.text ?? "") + more
  const bytes = output.bytes + utf8Bytes(more)
  return fitsCharacters(text, limits.toolOutputCharactersMax)
    ? { text, bytes, truncated: output.truncated, wholeDigest: null }
    : { text: endOf(text), bytes, truncated: true, wholeDigest: null }
}

const endOf = (text: string): string => detached(lastCharacters(text, limits.toolOutputCharactersMax))

/** The fields of the event. There is no digest of an output that is still growing. */
export const outputFields = (
  output: ToolOutput,
  ended: boolean
): Pick<ToolExecution, "output" | "outputBytes" | "outputTruncated" | "outputDigest"> => ({
  output: output.text,
  outputBytes: output.bytes,
  outputTruncated: output.truncated,
  outputDigest: ended ? finalDigest(output) : null
})

const finalDigest = (output: ToolOutput): string | null => {
  if (output.truncated) return output.wholeDigest
  return output.text === null ? null : digestOf(output.text)
}

/** Applies one update: the text of its content, else what its terminal says, else the raw output if there is nothing yet. */
export const outputAfter = (output: ToolOutput, contentText: string | undefined, update: NativeObject): ToolOutput => {
  if (contentText !== undefined) return wholeOutput(contentText)
  const piece = firstText(terminalPlaces.map((place) => nativeAt(update, ...place)))
  if (piece !== undefined) return moreOutput(output, piece)
  const raw = firstText(rawPlaces.map((place) => nativeAt(update, "rawOutput", ...place)))
  return raw !== undefined && output.text === null ? wholeOutput(raw) : output
}

const terminalPlaces: ReadonlyArray<ReadonlyArray<string>> = [
  ["_meta", "terminal_output_delta", "data"],
  ["_meta", "terminal_output", "data"]
]

/** The last two tell why there is no output. */
const rawPlaces: ReadonlyArray<ReadonlyArray<string>> = [
  [],
  ["output"],
  ["aggregated_output"],
  ["stdout"],
  ["content"],
  ["error"],
  ["message"]
]

const firstText = (values: ReadonlyArray<unknown>): string | undefined =>
  values.find((value) => typeof value === "string")

/** `undefined` is unknown, and never zero. */
export const exitCodeOf = (update: NativeObject): number | undefined =>
  exitPlaces.map((place) => nativeAt(update, ...place)).find(isExitCode) ??
  shellExitCode(nativeAt(update, "rawOutput", "contents")) ??
  wrappedExitCode(nativeAt(update, "rawOutput", "content"))

const isExitCode = (value: unknown): value is number => Number.isSafeInteger(value)

const exitPlaces: ReadonlyArray<ReadonlyArray<string>> = [
  ["_meta", "terminal_exit", "exit_code"],
  ["rawOutput", "exitCode"],
  ["rawOutput", "exit_code"],
  ["rawOutput", "metadata", "exit"]
]

/** Copilot lists how its shells ended; of several, which one is the call's own is not known. */
const shellExitCode = (contents: unknown): number | undefined => {
  if (!Array.isArray(contents)) return undefined
  const exits = contents.filter((entry) => nativeAt(entry, "type") === "shell_exit")
  const code = exits.length === 1 ? nativeAt(exits[0], "exitCode") : undefined
  return isExitCode(code) ? code : undefined
}

/**
 * Copilot ends the text of its raw output with the exit code. Only there: in the text of any other agent the same words may
 * have been printed by the command itself.
 */
const wrappedExitCode = (text: unknown): number | undefined => {
  const code =
    typeof text === "string"
      ? /<shellId: \d{1,9} completed with exit code (-?\d{1,10})>\s*$/.exec(text.slice(-256))?.[1]
      : undefined
  return code === undefined ? undefined : Number(code)
}
