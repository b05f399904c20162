/** What the local runner reads: a line of its controller, a line of its harness. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { HarnessMessage } from "../../fixtures/agents/harness/wire.ts"
import type { CommandRefused } from "../../src/schema/errors.ts"
import type { CommandV1 } from "../../src/schema/prp/contract/command.ts"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"

export type ReadCommand =
  | { readonly _tag: "Command"; readonly command: CommandV1 }
  /** Not one of PRP v1, but one that can be answered. */
  | { readonly _tag: "Unsupported"; readonly command: Pick<CommandV1, "commandId" | "controllerSeq"> }
  | { readonly _tag: "Unreadable"; readonly reason: string }
  | { readonly _tag: "Nothing" }

/** `undefined`: a line beyond the bound. */
export const readCommand = (line: string | undefined): ReadCommand => {
  if (line === undefined) return { _tag: "Unreadable", reason: "a command is longer than the bound" }
  if (line.trim() === "") return { _tag: "Nothing" }
  const value = parsed(line)
  const command = decodePrp("paperclip.prp.command.v1", value)
  if (Result.isSuccess(command)) return { _tag: "Command", command: command.success }
  const commandId = nativeAt(value, "commandId")
  const controllerSeq = nativeAt(value, "controllerSeq")
  return typeof commandId === "string" && typeof controllerSeq === "number" && Number.isSafeInteger(controllerSeq)
    ? { _tag: "Unsupported", command: { commandId, controllerSeq } }
    : { _tag: "Unreadable", reason: "a line is no command" }
}

/** A text that is no JSON is no message either. */
const parsed = (line: string): unknown => Result.getOrUndefined(Result.try(() => JSON.parse(line)))

/** `undefined`: the line is no message. */
export const readMessage = (line: string): HarnessMessage | undefined =>
  Result.getOrUndefined(decodeMessage(parsed(line)))

const decodeMessage = Schema.decodeUnknownResult(HarnessMessage)

/** In the words of the contract. */
export const refusalText = ({ code }: CommandRefused): string => refusalTexts[code]

const refusalTexts: Readonly<Record<CommandRefused["code"], string>> = {
  command_conflict: "commandId was reused with different data",
  controller_sequence_gap: "controllerSeq is not contiguous",
  command_history_compacted: "command history limit reached",
  command_history_full: "command history limit reached",
  command_not_json: "unsupported command schema"
}
