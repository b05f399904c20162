/** Tells an agent that never started from one that started and ended. */
import { LaunchFailed } from "../schema/errors.ts"
import type { Launch } from "./AgentLink.ts"
import type { ProcessExit } from "./Os.ts"

/**
 * The failure of a launch that ended before its first frame with the status that shells and `env` use for a command that
 * they cannot find (127) or cannot execute (126); `undefined`: it did start.
 */
export const launchFailure = (
  launch: Pick<Launch, "command">,
  exit: ProcessExit,
  framesSeen: number,
  stderrTail: ReadonlyArray<string>
): LaunchFailed | undefined => {
  if (framesSeen > 0 || exit._tag !== "Code") return undefined
  const reason = reasons[exit.code]
  return reason === undefined ? undefined : new LaunchFailed({ command: launch.command, reason, exit, stderrTail })
}

const reasons: Readonly<Record<number, string>> = {
  126: "the command, or what it starts, cannot be executed",
  127: "the command, or what it starts, was not found"
}
