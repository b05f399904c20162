/**
 * The command line: names, options and their descriptions. What a command does is loaded when it is run, so that help and
 * usage errors are quick.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { durationMsOf } from "./duration.ts"
import { UsageInvalid } from "../schema/errors.ts"
import type { ExitCode } from "./exitCode.ts"
import { makePrpCommand } from "./prpCommands.ts"
import { makeServeCommands } from "./serveCommands.ts"

/** `done` gets the code to exit with. */
export const makeCommands = (done: (code: ExitCode) => void) => {
  const exitWith = <E, R>(command: Effect.Effect<ExitCode, E, R>) => Effect.map(command, done)

  const run = Command.make("run", runParameters, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { run } = yield* Effect.promise(() => import("./run.ts"))
        return yield* Effect.scoped(run(yield* runOptionsOf(input)))
      })
    )
  ).pipe(
    Command.withDescription(runDescription),
    Command.withShortDescription("Gives one prompt to an agent and follows it to its end."),
    Command.withExamples(runExamples)
  )

  const agents = Command.make("agents", { json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { agents } = yield* Effect.promise(() => import("./agents.ts"))
        return yield* agents(input)
      })
    )
  ).pipe(
    Command.withDescription("Lists the agents: whether they are here, how they start, what they ask before doing.")
  )

  const setup = Command.make("setup", { agent: Argument.String("agent") }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { setup } = yield* Effect.promise(() => import("./setup.ts"))
        return yield* setup(input.agent)
      })
    )
  ).pipe(Command.withDescription("Fetches the pinned version of an agent into your cache, from its npm package."))

  const doctor = Command.make("doctor", { reap, json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { doctor } = yield* Effect.promise(() => import("./doctor.ts"))
        return yield* doctor(input)
      })
    )
  ).pipe(Command.withDescription("Says how processes can be owned on this machine, and what dead hosts have left."))

  return Command.make("greenroom").pipe(
    Command.withDescription("Runs coding agents as supervised actors: every process is owned, every turn ends once."),
    Command.withSubcommands([run, ...makeServeCommands(done), agents, setup, doctor, makePrpCommand(done)])
  )
}

const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false), Flag.withoutNegation)

const json = switchFlag("json", "JSON on stdout instead of text for people")

const reap = switchFlag("reap", "End what is left of hosts that are proven dead")

const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

const texts = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.atLeast(0))

const runParameters = {
  prompt: Argument.String("prompt").pipe(Argument.withDescription("What the agent shall do; - reads it from stdin")),
  agent: optionalText("agent", "ID", "One of `greenroom agents` (default: bundled)"),
  agentCommand: optionalText("agent-command", "CMD", "Any command that speaks ACP on stdio; its gates are unknown"),
  cwd: optionalText("cwd", "DIR", "The agent's workspace (default: here)"),
  policy: Flag.Literals("policy", ["ask", "approve-reads", "approve-all", "deny-all"]).pipe(
    Flag.withDescription("Who decides what the agent asks; without a terminal what would be asked is rejected once"),
    Flag.withDefault("ask")
  ),
  model: optionalText("model", "ID", "One of the agent's models"),
  mode: optionalText("mode", "ID", "One of the agent's modes"),
  home: Flag.Literals("home", ["user", "private"]).pipe(
    Flag.withDescription(
      "The agent's home: yours, or an empty one for this run (default: user; private with --demo-model)"
    ),
    Flag.optional
  ),
  timeout: optionalText("timeout", "DURATION", "Ends the run after this time: 500ms, 90s, 5m, 1h"),
  image: texts("image", "FILE", "Sends an image along (repeatable)"),
  file: texts("file", "FILE", "Names a file to the agent (repeatable)"),
  embed: texts("embed", "FILE", "Sends the content of a file along (repeatable)"),
  mcp: texts("mcp", "JSON-OR-FILE", "An MCP server or a list of them, in the shape of ACP (repeatable)"),
  credential: texts("credential", "NAME", "Passes this variable of your environment to the agent (repeatable)"),
  demoModel: switchFlag("demo-model", "Gives the agent a small model on loopback instead of its own service"),
  backend: Flag.Literals("backend", ["namespace", "marked"]).pipe(
    Flag.withDescription("How the agent's processes are owned (default: the strongest that works here)"),
    Flag.optional
  ),
  record: optionalText("record", "FILE", "Writes the raw traffic as JSON Lines; it may hold secrets"),
  json: switchFlag("json", "Every event on stdout, one JSON envelope on each line")
}

const runDescription = `Gives one prompt to an agent and follows it to its end.

The answer goes to stdout, everything else to stderr. Exit codes: 0 completed, 1 failed, 2 usage, 3 refused or not \
enforceable, 4 agent missing, 5 processes left, 124 timed out, 130 cancelled. Ctrl-C cancels the turn, twice kills the agent.`

const runExamples = [
  { command: 'greenroom run "add \\"hello\\" to notes.txt"', description: "Ask before every change" },
  { command: 'greenroom run --policy approve-all "run: ls"', description: "Ask nobody" },
  { command: "greenroom run --agent copilot --json - < prompt.txt", description: "Another agent, events as JSON Lines" }
]

type RunInput = Command.Command.Config.Infer<typeof runParameters>

const runOptionsOf = Effect.fnUntraced(function* (input: RunInput) {
  const { prompt, policy, demoModel, image, file, embed, mcp, credential } = input
  const agent = Option.getOrUndefined(input.agent)
  const agentCommand = Option.getOrUndefined(input.agentCommand)
  if (agent !== undefined && agentCommand !== undefined) {
    return yield* new UsageInvalid({ option: "--agent-command", reason: "not together with --agent" })
  }
  if (demoModel && agentCommand === undefined && (agent ?? "bundled") === "bundled") {
    const reason = "the bundled agent works without a model; name another with --agent"
    return yield* new UsageInvalid({ option: "--demo-model", reason })
  }
  return {
    prompt,
    agent,
    agentCommand,
    policy,
    demoModel,
    json: input.json,
    cwd: yield* folderOf(resolve(Option.getOrElse(input.cwd, () => "."))),
    model: Option.getOrUndefined(input.model),
    mode: Option.getOrUndefined(input.mode),
    home: Option.getOrUndefined(input.home),
    backend: Option.getOrUndefined(input.backend),
    record: Option.getOrUndefined(input.record),
    timeoutMs: Option.isNone(input.timeout) ? undefined : yield* timeoutOf(input.timeout.value),
    images: image,
    files: file,
    embeds: embed,
    credentials: credential,
    mcp
  }
})

const folderOf = (path: string): Effect.Effect<string, UsageInvalid> =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    ? Effect.succeed(path)
    : Effect.fail(new UsageInvalid({ option: "--cwd", reason: `${path} is no folder` }))

const timeoutOf = (text: string): Effect.Effect<number, UsageInvalid> => {
  const ms = durationMsOf(text)
  return ms === undefined
    ? Effect.fail(new UsageInvalid({ option: "--timeout", reason: "not a duration like 500ms, 90s, 5m or 1h" }))
    : Effect.succeed(ms)
}
