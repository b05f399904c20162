/** The suite, as data: each scene is one launch, told to every agent in the same words. */
import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { PermissionPolicy } from "../../src/schema/request.ts"
import type { TurnOutcome } from "../../src/schema/turn.ts"
import { freshTag, sendKill, tagged } from "../process/processes.ts"
import type { CaseName } from "./cases.ts"
import type { Cue } from "./cues.ts"
import type { Asked, Stage, Turn } from "./stage.ts"

export interface Scene {
  readonly name: string
  readonly cases: ReadonlyArray<CaseName>
  readonly policy: PermissionPolicy
  /** Start the agent with a model that is not its default. */
  readonly otherModel?: boolean
  readonly play: (stage: Stage) => Effect.Effect<void, never, Scope.Scope>
}

const text: Scene = {
  name: "a text turn",
  cases: ["answers with text", "uses the model it was started with", "ends at the end of its input"],
  policy: "ask",
  otherModel: true,
  play: Effect.fnUntraced(function* (stage) {
    const turn = yield* stage.prompt({ _tag: "Say", text: "hello from afar" })
    const outcome = yield* turn.ended
    const isAnswered = outcome._tag === "Completed" && outcome.reply === "message"
    stage.tell("answers with text", isAnswered && turn.text().includes("hello from afar"), [outcome, turn.text()])
    const models = stage.model.log.filter(({ utility }) => !utility).map(({ model }) => model)
    // The bundled agent has no model to tell: its other one speaks in lines, not in words.
    const pieces = turn.events().filter((event) => event.eventType === "item.delta").length
    const isChosen = stage.subject.tools === undefined ? pieces === 1 : models.join() === stage.subject.model
    stage.tell("uses the model it was started with", isChosen, [models, pieces])
    const report = yield* stage.session.close
    const isSigned = report.steps.some((step) => step !== "eof")
    stage.tell("ends at the end of its input", !isSigned && report.exit._tag === "Code", report)
  })
}

/** One red pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
const pngBytes = Buffer.from(png, "base64").length

const image: Scene = {
  name: "an image",
  cases: ["sees an image"],
  policy: "ask",
  play: Effect.fnUntraced(function* (stage) {
    if (stage.session.agent.agentCapabilities.promptCapabilities.image !== true)
      return stage.tell("sees an image", false, "it does not advertise images")
    const picture = { _tag: "Image", data: png, mimeType: "image/png" } as const
    const turn = yield* stage.prompt({ _tag: "Say", text: "a picture" }, picture)
    const outcome = yield* turn.ended
    const images = stage.model.log.flatMap((entry) => entry.images)
    const isSeen =
      stage.subject.tools === undefined
        ? turn.text().includes(`(image/png, ${pngBytes} bytes)`)
        : images.some(({ bytes, type }) => type === "image/png" && bytes === pngBytes)
    stage.tell("sees an image", isSeen && outcome._tag === "Completed", [outcome, images, turn.text()])
  })
}

const command = (line: string): Cue => ({ _tag: "Run", command: `echo ${line} > made.txt` })
const edit = (stage: Stage, line: string): Cue => ({ _tag: "Create", path: stage.inWorkspace("made.txt"), line })

const isMade = (stage: Stage) => fs.existsSync(stage.inWorkspace("made.txt"))
const madeText = (stage: Stage) => (isMade(stage) ? fs.readFileSync(stage.inWorkspace("made.txt"), "utf8") : undefined)

const allow = Effect.fnUntraced(function* (stage: Stage, turn: Turn, request: Asked, kind: string) {
  stage.tell("names the kind of effect it asks for", request.kind === kind, request.kind)
  yield* request.answer("allow_once")
  const outcome = yield* turn.ended
  const isDone = outcome._tag === "Completed" && madeText(stage) === "allowed\n"
  stage.tell("does what was allowed", isDone, [outcome, madeText(stage)])
})

const allowedCommand: Scene = {
  name: "an allowed command",
  cases: ["asks before a command", "names the kind of effect it asks for", "does what was allowed"],
  policy: "ask",
  play: Effect.fnUntraced(function* (stage) {
    const turn = yield* stage.prompt(command("allowed"))
    const request = yield* stage.asked(turn)
    const { execute } = stage.provider.traits.gate
    // One that asks for this command and not for every one is `unknown`, so that nothing is promised of it.
    const expected = stage.subject.denyAllRefused === undefined ? "asks" : "unknown"
    stage.tell("asks before a command", execute === expected && !isMade(stage), `its trait says ${execute}`)
    yield* allow(stage, turn, request, "execute")
  })
}

const allowedEdit: Scene = {
  name: "an allowed edit",
  cases: ["asks before an edit", "names the kind of effect it asks for", "does what was allowed"],
  policy: "ask",
  play: Effect.fnUntraced(function* (stage) {
    const turn = yield* stage.prompt(edit(stage, "allowed"))
    const request = yield* stage.asked(turn)
    stage.tell("asks before an edit", stage.provider.traits.gate.edit === "asks" && !isMade(stage))
    yield* allow(stage, turn, request, "edit")
  })
}

const deniedCommand: Scene = {
  name: "a command that a person denies",
  cases: ["does nothing that a person denied", "goes on behind a denial"],
  policy: "ask",
  play: Effect.fnUntraced(function* (stage) {
    yield* stage.never("does nothing that a person denied", () => isMade(stage))
    const turn = yield* stage.prompt(command("denied"))
    yield* (yield* stage.asked(turn)).answer("reject_once")
    const outcome = yield* turn.ended
    const requests = stage.model.log.filter(({ utility }) => !utility).length
    const goesOn = stage.subject.tools === undefined ? turn.text() !== "" : requests > 1
    stage.tell("goes on behind a denial", goesOn, [outcome, requests])
  })
}

const deniedEdit: Scene = {
  name: "an edit that the policy denies",
  cases: ["does nothing that the policy denied"],
  policy: "deny-all",
  play: Effect.fnUntraced(function* (stage) {
    yield* stage.never("does nothing that the policy denied", () => isMade(stage))
    const turn = yield* stage.prompt(edit(stage, "denied"))
    yield* stage.asked(turn)
    yield* turn.ended
  })
}

const isInterrupted = (turn: Turn, outcome: TurnOutcome) =>
  outcome._tag === "Cancelled" &&
  outcome.by === "interrupt" &&
  outcome.acknowledged &&
  turn.events().at(-1)?.eventType === "turn.interrupted"

const servesNext = Effect.fnUntraced(function* (stage: Stage, before: number | undefined) {
  const turn = yield* stage.prompt({ _tag: "Say", text: "still here" })
  const outcome = yield* turn.ended
  const after = stage.agentPid()
  const isSame = before !== undefined && before === after
  const isServed = outcome._tag === "Completed" && turn.text().includes("still here")
  stage.tell("serves the next prompt in the same process", isServed && isSame, [outcome, turn.text(), before, after])
})

const cancelledStream: Scene = {
  name: "a cancel in mid-stream",
  cases: [
    "is interrupted in mid-stream",
    "lets go of its model at a cancel",
    "serves the next prompt in the same process"
  ],
  policy: "ask",
  play: Effect.fnUntraced(function* (stage) {
    const turn = yield* stage.prompt({ _tag: "Wait" })
    yield* stage.until("it speaks", () => turn.text().includes("waiting"), turn)
    const pid = stage.agentPid()
    yield* turn.cancel
    const outcome = yield* turn.ended
    stage.tell("is interrupted in mid-stream", isInterrupted(turn, outcome), outcome)
    yield* stage.eventually("lets go of its model at a cancel", () =>
      stage.model.log.some(({ aborted, turn: said }) => aborted && said.hang === true)
    )
    yield* servesNext(stage, pid)
  })
}

const cancelledRequest: Scene = {
  name: "a cancel while a request is open",
  cases: [
    "is interrupted while it asks",
    "does nothing that was asked for in a cancelled turn",
    "serves the next prompt in the same process"
  ],
  policy: "ask",
  play: Effect.fnUntraced(function* (stage) {
    yield* stage.never("does nothing that was asked for in a cancelled turn", () => isMade(stage))
    const turn = yield* stage.prompt(command("never"))
    const request = yield* stage.asked(turn)
    const pid = stage.agentPid()
    yield* turn.cancel
    const outcome = yield* turn.ended
    const isWithdrawn = turn
      .events()
      .some((one) => one.eventType === "runtime_request.cancelled" && one.payload.requestId === request.requestId)
    stage.tell("is interrupted while it asks", isInterrupted(turn, outcome) && isWithdrawn, outcome)
    yield* servesNext(stage, pid)
  })
}

/** A turn in the middle of a command that does not end by itself. Its shell must not become the `sleep`: some agents take
 * their shell along when they die, and nothing below it. */
const inCommand = Effect.fnUntraced(function* (stage: Stage) {
  const tag = freshTag()
  const turn = yield* stage.prompt({ _tag: "Stay", command: `sleep ${tag}; echo over` })
  yield* stage.until("the command runs", () => tagged(tag).length > 0, turn)
  return { turn, isRunning: () => tagged(tag).length > 0 }
})

/** The agent's own words on a tool call that has ended. Those of ours are not from it. */
const toolEnds = (turn: Turn) =>
  turn
    .events()
    .filter((event) => event.eventType === "tool.execution.completed" && event.debug?.["native"] !== undefined)

const cancelledCommand: Scene = {
  name: "a cancel in the middle of a command",
  cases: [
    "is interrupted in the middle of a command",
    "ends its command at a cancel",
    "closes its tool calls at a cancel",
    "does with tool calls at a cancel what its traits say"
  ],
  policy: "approve-all",
  play: Effect.fnUntraced(function* (stage) {
    const { isRunning, turn } = yield* inCommand(stage)
    const before = toolEnds(turn).length
    yield* turn.cancel
    const outcome = yield* turn.ended
    stage.tell("is interrupted in the middle of a command", isInterrupted(turn, outcome), outcome)
    const isClosed = toolEnds(turn).length > before
    const { closesToolsOnCancel } = stage.provider.traits
    stage.tell("closes its tool calls at a cancel", isClosed, outcome)
    stage.tell("does with tool calls at a cancel what its traits say", isClosed === closesToolsOnCancel)
    yield* stage.eventually("ends its command at a cancel", () => !isRunning())
  })
}

const killedAgent: Scene = {
  name: "SIGKILL in the middle of a command",
  cases: ["fails its turn with the signal that killed it"],
  policy: "approve-all",
  play: Effect.fnUntraced(function* (stage) {
    const { turn } = yield* inCommand(stage)
    sendKill(stage.agentPid() ?? 0)
    const outcome = yield* turn.ended
    const isNamed =
      outcome._tag === "Failed" &&
      outcome.reason === "connection_closed" &&
      outcome.exit?._tag === "Signal" &&
      outcome.exit.signal === "SIGKILL"
    stage.tell("fails its turn with the signal that killed it", isNamed, outcome)
  })
}

const closedSession: Scene = {
  name: "a close in the middle of a command",
  cases: ["has its turn cancelled by a close in the middle of a command"],
  policy: "approve-all",
  play: Effect.fnUntraced(function* (stage) {
    const { turn } = yield* inCommand(stage)
    yield* stage.session.close
    const outcome = yield* turn.ended
    const isCancelled = outcome._tag === "Cancelled" && outcome.by === "shutdown"
    stage.tell("has its turn cancelled by a close in the middle of a command", isCancelled, outcome)
  })
}

export const scenes: ReadonlyArray<Scene> = [
  text,
  image,
  allowedCommand,
  allowedEdit,
  deniedCommand,
  deniedEdit,
  cancelledStream,
  cancelledRequest,
  cancelledCommand,
  killedAgent,
  closedSession
]
