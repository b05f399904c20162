/**
 * The command from its arguments to its exit code.
 *
 * Guarantees: stdout has data only, what the library logs included; a mistake of the command line exits with 2 and says where
 * help is; everything written has reached the operating system before the process ends.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as CliConfig from "effect/cli/CliConfig"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type {
  AgentInstallFailed,
  AgentMissing,
  ConnectRefused,
  ListenRefused,
  OutputClosed,
  PlatformUnsupported,
  ProfileInvalid,
  StoreFailed,
  StoreRefused,
  TokenFolderUnusable,
  UsageInvalid
} from "../schema/errors.ts"
import { version } from "../schema/version.ts"
import type { ConnectionLost } from "../services/RunnerClient.ts"
import { makeCommands } from "./commands.ts"
import { errorLines } from "./errorLines.ts"
import { codeOfError, type ExitCode, exitCodes } from "./exitCode.ts"
import { stderrStream, stdoutStream } from "./outputStream.ts"
import { serveWords } from "./serveWords.ts"
import { shownLine } from "./shownText.ts"

/** Resolves with what the process is to exit with; never rejects. */
export const main = async (args: ReadonlyArray<string>): Promise<ExitCode> => {
  let code: ExitCode = exitCodes.completed
  const commands = makeCommands((asked) => (code = asked))
  const exit = await Effect.runPromiseExit(
    Command.runWith(commands, { version })(args).pipe(
      Effect.catch((error) => failed(error, (asked) => (code = asked))),
      Effect.provide(environment)
    )
  )
  if (Exit.isSuccess(exit)) return code
  await Effect.runPromiseExit(say(`a defect: ${Cause.pretty(exit.cause)}`))
  return exitCodes.failed
}

type Failure =
  | CliError.CliError
  | ConnectionLost
  | ConnectRefused
  | ListenRefused
  | StoreFailed
  | StoreRefused
  | TokenFolderUnusable
  | AgentInstallFailed
  | AgentMissing
  | OutputClosed
  | PlatformUnsupported
  | ProfileInvalid
  | UsageInvalid

/** Failures before there was anything to end; a run that has begun tells its own. */
const failed = (error: Failure, done: (code: ExitCode) => void): Effect.Effect<void> => {
  switch (error._tag) {
    case "UsageInvalid":
      done(exitCodes.usage)
      return say(`${error.option}: ${error.reason}`)
    case "ProfileInvalid":
    case "AgentMissing":
    case "PlatformUnsupported":
      done(codeOfError(error))
      return Effect.forEach(errorLines(error), say, { discard: true })
    case "AgentInstallFailed":
      done(exitCodes.failed)
      return say(`${error.package} could not be installed (${error.reason}): ${shownLine(error.detail)}`)
    case "ConnectRefused":
    case "FrameChannelClosed":
    case "ListenRefused":
    case "RunnerRefused":
    case "StoreFailed":
    case "StoreRefused":
    case "TokenFolderUnusable":
      done(exitCodes.failed)
      return say(serveWords(error))
    case "OutputClosed":
      if (error.systemCode === undefined) return Effect.void
      done(exitCodes.failed)
      return say(`${error.stream} cannot be written (${error.systemCode})`)
    case "ShowHelp":
      // Without errors it is help that somebody asked for by naming no command.
      return Effect.sync(() => done(error.errors.length === 0 ? exitCodes.completed : exitCodes.usage))
    default:
      done(exitCodes.usage)
      return say(error.message)
  }
}

const say = (text: string): Effect.Effect<void> => Effect.ignore(stderrStream().write(`greenroom: ${text}\n`))

/** Help that was asked for is data; what is wrong with the arguments is talk. */
const present = (event: CliOutput.Presenter.Event): Effect.Effect<void> =>
  Effect.gen(function* () {
    const stdout = stdoutStream()
    const formatter = CliOutput.defaultFormatter({
      colors: stdout.isTerminal && (process.env["NO_COLOR"] ?? "") === ""
    })
    switch (event._tag) {
      case "Help":
        return yield* Effect.ignore(stdout.write(`${formatter.formatHelpDoc(event.helpDoc)}\n`))
      case "Version":
        return yield* Effect.ignore(stdout.write(`${formatter.formatVersion(event.name, event.version)}\n`))
      case "InvalidInvocation":
        for (const error of event.errors) yield* say(shownLine(error.message))
        return yield* say(`see \`${event.commandPath.join(" ")} --help\``)
    }
  })

const environment = Layer.mergeAll(
  NodeServices.layer,
  CliOutput.layerPresenter({ present }),
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  Logger.layer([
    Logger.make(({ message }) => process.stderr.write(`greenroom: ${[message].flat().map(String).join(" ")}\n`))
  ])
)
