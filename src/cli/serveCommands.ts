/** `greenroom serve`, `attach`, `ps` and `token`: names, options and descriptions. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { durationMsOf } from "./duration.ts"
import { UsageInvalid } from "../schema/errors.ts"
import type { ExitCode } from "./exitCode.ts"

/** `done` gets the code to exit with. */
export const makeServeCommands = (done: (code: ExitCode) => void) => {
  const exitWith = <E, R>(command: Effect.Effect<ExitCode, E, R>) => Effect.map(command, done)

  const serve = Command.make("serve", { state, socket, stdio, listen, home, sync }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { serve } = yield* Effect.promise(() => import("./serve.ts"))
        return yield* Effect.scoped(serve({ ...input, ...placeOf(input), listen: Option.getOrUndefined(input.listen) }))
      })
    )
  ).pipe(
    Command.withDescription(serveDescription),
    Command.withShortDescription("Hosts runs for control planes, durably, until it is told to end.")
  )

  const attach = Command.make("attach", { run, state, socket, json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { attach } = yield* Effect.promise(() => import("./attach.ts"))
        const { json: isJson } = input
        return yield* Effect.scoped(attach({ ...placeOf(input), run: Option.getOrUndefined(input.run), json: isJson }))
      })
    )
  ).pipe(
    Command.withDescription(
      "Watches a run of `greenroom serve` and answers what its agent asks. The run does not notice; Ctrl-C detaches."
    ),
    Command.withShortDescription("Watches a run of a runner that serves, and answers its questions.")
  )

  const ps = Command.make("ps", { state, socket, json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { ps } = yield* Effect.promise(() => import("./ps.ts"))
        return yield* Effect.scoped(ps({ ...placeOf(input), json: input.json }))
      })
    )
  ).pipe(Command.withDescription("Shows the runs, the actors and the owned processes of `greenroom serve`."))

  const mint = Command.make("mint", { company, runs, ttl, state }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { mintToken } = yield* Effect.promise(() => import("./tokens.ts"))
        const ttlMs = durationMsOf(input.ttl)
        if (ttlMs === undefined) {
          return yield* new UsageInvalid({ option: "--ttl", reason: "not a duration like 90s, 5m or 1h" })
        }
        const runIds = input.runs.length === 0 ? null : input.runs
        return yield* mintToken({ state: Option.getOrUndefined(input.state), companyId: input.company, runIds, ttlMs })
      })
    )
  ).pipe(Command.withDescription("Makes a token for the runs of one company and prints it, once."))

  const list = Command.make("list", { state, json }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { listTokens } = yield* Effect.promise(() => import("./tokens.ts"))
        return yield* listTokens({ state: Option.getOrUndefined(input.state), json: input.json })
      })
    )
  ).pipe(Command.withDescription("Lists the tokens, without their secrets."))

  const revoke = Command.make("revoke", { id: Argument.String("id"), state }, (input) =>
    exitWith(
      Effect.gen(function* () {
        const { revokeToken } = yield* Effect.promise(() => import("./tokens.ts"))
        return yield* revokeToken({ state: Option.getOrUndefined(input.state), id: input.id })
      })
    )
  ).pipe(Command.withDescription("Revokes a token by its id, the part before the dot; its connections end soon."))

  const token = Command.make("token").pipe(
    Command.withDescription("Tokens with which control planes reach the runs of one company over `serve --listen`."),
    Command.withSubcommands([mint, list, revoke])
  )

  return [serve, attach, ps, token] as const
}

const placeOf = (input: { readonly state: Option.Option<string>; readonly socket: Option.Option<string> }) => ({
  state: Option.getOrUndefined(input.state),
  socket: Option.getOrUndefined(input.socket)
})

const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false), Flag.withoutNegation)

const optionalText = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

const json = switchFlag("json", "JSON on stdout instead of text for people")
const state = optionalText("state", "DIR", "Where the runner keeps its journal, socket and tokens")
const socket = optionalText("socket", "PATH", "The runner's socket (default: runner.sock in the folder of state)")
const stdio = switchFlag("stdio", "Frames on stdin and stdout in place of the socket; their end ends the runner")
const listen = Flag.Int("listen").pipe(
  Flag.withMetavar("PORT"),
  Flag.withDescription("A WebSocket on loopback for bearers of tokens, and GET /health (0 picks a port)"),
  Flag.optional
)
const home = Flag.Literals("home", ["user", "private"]).pipe(
  Flag.withDescription("The agents' home: yours, or an empty one for each session"),
  Flag.withDefault("private")
)
const sync = switchFlag("sync", "Every commit is on the disk before anybody hears of it, also if the machine crashes")
const run = Argument.String("run").pipe(
  Argument.withDescription("The id of the run (default: the only one under way)"),
  Argument.optional
)
const company = Flag.String("company").pipe(Flag.withMetavar("ID"), Flag.withDescription("Whose runs it reaches"))
const runs = Flag.String("run").pipe(
  Flag.withMetavar("ID"),
  Flag.withDescription("Only this run of them (repeatable)"),
  Flag.atLeast(0)
)
const ttl = Flag.String("ttl").pipe(
  Flag.withMetavar("DURATION"),
  Flag.withDescription("How long it is good: 90s, 5m, 1h"),
  Flag.withDefault("1h")
)

const serveDescription = `Hosts runs for control planes that speak PRP (docs/runnerd.md), and keeps what they must not lose.

Where it listens is one line of JSON on stdout. Whoever can open the socket may do everything; a token reaches the runs of its \
company only. On SIGINT or SIGTERM every run is ended and every process is gone before it returns.`
