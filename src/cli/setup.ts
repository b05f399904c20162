/** `greenroom setup`: fetches the pinned version of an agent into the user's cache. */
import * as Effect from "effect/Effect"
import { executableIn, installFolder, packageName } from "../layers/providers/agentCache.ts"
import { isExecutable } from "../layers/providers/executable.ts"
import { install } from "../layers/providers/install.ts"
import {
  type AgentInstallFailed,
  type AgentMissing,
  type OutputClosed,
  type ProfileInvalid,
  UsageInvalid
} from "../schema/errors.ts"
import { chosenAgent } from "./choosingAgent.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { stderrStream, stdoutStream } from "./outputStream.ts"

/** Prints the executable. If interrupted, nothing of it is left. */
export const setup = Effect.fn("greenroom.setup")(function* (
  agent: string
): Effect.fn.Return<ExitCode, AgentInstallFailed | AgentMissing | OutputClosed | ProfileInvalid | UsageInvalid> {
  const provider = yield* chosenAgent({ agent, agentCommand: undefined }, process.env)
  if (provider.distribution === undefined) {
    const reason =
      agent === "bundled" ? "the bundled agent is here already" : `${agent} cannot be fetched: install it yourself`
    return yield* new UsageInvalid({ option: "setup", reason })
  }
  const folder = installFolder(provider.id, provider.distribution, process.env)
  if (!(yield* isExecutable(executableIn(folder, provider.distribution)))) {
    const what = `${packageName(provider.distribution)} ${provider.distribution.version}`
    yield* Effect.ignore(stderrStream().write(`greenroom: fetching ${what}\n`))
  }
  const { executable } = yield* install(provider.id, provider.distribution, process.env)
  yield* stdoutStream().write(`${executable}\n`)
  return exitCodes.completed
})
