/**
 * A provider from a bare command of the user. Nothing is known of such an agent, so every gate is `unknown`.
 *
 * The command is split as a shell would (blanks, both quotes, backslash) and never given to one: no variable, pattern,
 * pipe or redirection means anything.
 */
import * as Result from "effect/Result"
import { ProfileInvalid } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import type { Provider } from "../../services/Provider.ts"
import { providerOf } from "./profile.ts"

/** `id` is `command`. */
export const providerFromCommand = (command: string): Result.Result<Provider, ProfileInvalid> =>
  Result.map(splitCommand(command), ([executable, ...args]) =>
    providerOf({ id: "command", name: executable, commands: [executable], args })
  )

type Words = readonly [string, ...ReadonlyArray<string>]

export const splitCommand = (command: string): Result.Result<Words, ProfileInvalid> => {
  const words: Array<string> = []
  let word: string | undefined
  let rest = command
  while (rest !== "") {
    const [piece = "", blank, single, double, escaped, plain] = pieceOf.exec(rest) ?? []
    if (piece === "") return refuse("a quote is not closed, or a backslash ends the command")
    rest = rest.slice(piece.length)
    if (blank === undefined) {
      word = (word ?? "") + (single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "")
    } else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  if (word !== undefined) words.push(word)
  const [first, ...others] = words
  if (first === undefined || first === "") return refuse("no executable is named")
  if (words.length > limits.commandWordsMax) return refuse(`more than ${limits.commandWordsMax} words`)
  return Result.succeed([first, ...others])
}

/** Blanks, '…', "…", one escaped character, or plain characters. */
const pieceOf = /^(?:(\s+)|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+))/

const refuse = (reason: string): Result.Result<never, ProfileInvalid> =>
  Result.fail(new ProfileInvalid({ file: "", path: "command", reason }))
