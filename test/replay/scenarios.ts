/** What the corpus records of every agent: few and short, one for each way in which a turn can end. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { OpenedSession, PromptHandle } from "../../src/actors/Runner.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import type { OptionKind } from "../../src/schema/request.ts"

export interface Stage {
  readonly session: OpenedSession
  readonly workspace: string
  /** SIGKILL to the agent itself, by its identity. */
  readonly kill: Effect.Effect<void>
}

export type Scenario = (stage: Stage) => Effect.Effect<void, unknown, Scope.Scope>

export const scenarios: Readonly<Record<string, Scenario>> = {
  text: ({ session }) => perform(session, "say Hello from the other side."),

  "two-prompts": ({ session }) =>
    Effect.andThen(perform(session, "say The first answer."), perform(session, "say The second answer.")),

  allow: ({ session }) => perform(session, command, (event) => answerWith(session, event, "allow_once")),

  deny: ({ session }) => perform(session, command, (event) => answerWith(session, event, "reject_once")),

  "cancel-stream": ({ session }) =>
    perform(session, "wait", (event, prompt) => (isWaiting(event) ? cancel(session, prompt) : Effect.void)),

  "cancel-permission": ({ session }) =>
    perform(session, command, (event, prompt) =>
      event.eventType === "runtime_request.created" ? cancel(session, prompt) : Effect.void
    ),

  "death-mid-tool": ({ session, workspace, kill }) =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(Effect.andThen(untilThere(join(workspace, "begun")), kill))
      yield* perform(session, "run: echo begun > begun && sleep 60", (event) =>
        answerWith(session, event, "allow_once")
      )
    })
}

const command = "run: echo done > result.txt && cat result.txt"

/** Some agents still say something after the end of a turn. */
const afterwardsMs = 250

/** Prompts, and follows the turn to its end. */
const perform = Effect.fnUntraced(function* (
  session: OpenedSession,
  text: string,
  react: (event: Event, prompt: PromptHandle) => Effect.Effect<void, unknown> = () => Effect.void
): Effect.fn.Return<void, unknown, Scope.Scope> {
  const prompt = yield* session.prompt(text)
  yield* Stream.runForEach(prompt.events, (event) => react(event, prompt))
  yield* prompt.outcome
  yield* Effect.sleep(afterwardsMs)
})

const isWaiting = (event: Event): boolean =>
  event.eventType === "item.delta" &&
  event.payload.kind === "assistant_message" &&
  event.payload.text.includes("waiting")

const cancel = (session: OpenedSession, prompt: PromptHandle) => Effect.asVoid(session.cancel(prompt.turnId))

const answerWith = (session: OpenedSession, event: Event, kind: OptionKind): Effect.Effect<void, unknown> => {
  if (event.eventType !== "runtime_request.created") return Effect.void
  const { choices = [], requestId } = event.payload.request
  const choice = choices.find((one) => one["kind"] === kind)
  if (choice === undefined) return Effect.die(new Error(`the agent does not offer ${kind}`))
  return session.answer(requestId, { _tag: "Selected", optionId: choice.key })
}

const untilThere = (file: string): Effect.Effect<void> =>
  Effect.suspend(() => (existsSync(file) ? Effect.void : Effect.andThen(Effect.sleep(10), untilThere(file))))
