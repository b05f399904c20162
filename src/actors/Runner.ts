/**
 * The runner: what a host holds. It opens sessions under their policy, and hands out prompts with their events.
 *
 * Guarantees: a policy that an agent cannot keep is refused before any process exists; what the host opened in a scope is gone,
 * and proven gone, when the scope has closed.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { PromptInput, PromptPart } from "../schema/acp/prompt.ts"
import type { InitializeResult, NewSessionResult } from "../schema/acp/protocol.ts"
import {
  type ActorCrashed,
  type AgentMissing,
  type AnswerRefused,
  type AskTimedOut,
  type EnvironmentRefused,
  InvariantViolated,
  type MailboxFull,
  PolicyNotEnforceable,
  type PromptRefused,
  type ProviderSetupFailed,
  SessionClosed,
  type SettingRefused
} from "../schema/errors.ts"
import type { Event } from "../schema/prp/event.ts"
import { isTurnTerminal } from "../schema/prp/terminals.ts"
import type { PermissionPolicy, RequestAnswer } from "../schema/request.ts"
import type { CancelReceipt } from "../schema/session.ts"
import type { TurnOutcome } from "../schema/turn.ts"
import type { Backend } from "../services/Os.ts"
import type { AgentLink, CleanupReport } from "../services/AgentLink.ts"
import { Files } from "../services/Files.ts"
import { gateVerdict } from "../services/gate.ts"
import { Ids } from "../services/Ids.ts"
import type { LaunchOptions, Provider } from "../services/Provider.ts"
import type { CallError } from "./agentCalls.ts"
import { Connections } from "./Connections.ts"
import { Journal, type Subscription } from "./Journal.ts"
import { Registry, type Row } from "./kernel/Registry.ts"
import { openWhole } from "./openWhole.ts"
import type { TurnRecords } from "./turnEvents.ts"
import { openSession, type OpenError as SessionOpenError, type Session } from "./Session.ts"

export interface OpenOptions extends Omit<LaunchOptions, "model" | "modelServer"> {
  readonly provider: Provider
  /** Default: the agent's own. An agent that does not have it refuses the session. */
  readonly model?: string
  readonly modelServer?: LaunchOptions["modelServer"]
  readonly policy: PermissionPolicy
  /** There is somebody who answers requests with `answer`. Default: false, and what would be asked is rejected once. */
  readonly canAsk?: boolean
  readonly mode?: string
  /** In the shape of ACP. Default: none. */
  readonly mcpServers?: ReadonlyArray<unknown>
  readonly backend?: Backend
  /** Names the run in all events. Default: minted. */
  readonly runId?: string
  /** Names the session. Default: minted. */
  readonly sessionId?: string
  /** Called once per turn: what is to be kept in the commit of its terminal. */
  readonly recordsOf?: TurnRecords
}

export interface PromptOptions {
  /** Minted by the caller, so that a cancel may come before the prompt. Default: minted here. */
  readonly turnId?: string
  /** From the hand-over to the agent on. Default: none. */
  readonly deadline?: Duration.Input
  /** `discard`: nobody reads the events of the turn, and it does not wait for them. Default: `read`. */
  readonly events?: "read" | "discard"
}

/** One prompt on its way. Its events must be read: a turn whose events nobody takes waits, and so does its agent. */
export interface PromptHandle {
  readonly turnId: string
  /** From `turn.submitted` to the terminal. Read once. */
  readonly events: Stream.Stream<Event>
  readonly outcome: Effect.Effect<TurnOutcome>
  /** Cancels the turn and waits for its outcome. */
  readonly cancel: Effect.Effect<TurnOutcome>
}

export interface OpenedSession extends Pick<Session, "attach" | "died" | "runId" | "view"> {
  readonly sessionId: string
  readonly agent: InitializeResult
  readonly settings: NewSessionResult
  readonly link: AgentLink
  /** Queued behind the prompts before it. If the scope closes before the turn has ended, the turn is cancelled. */
  readonly prompt: (
    input: PromptInput,
    options?: PromptOptions
  ) => Effect.Effect<PromptHandle, PromptRefused | SessionClosed | ActorCrashed, Scope.Scope>
  /** Cancels one turn, running, queued or yet to come; without an id the running one. Does not wait for its outcome. */
  readonly cancel: (
    turnId?: string,
    by?: "interrupt" | "runCancel"
  ) => Effect.Effect<CancelReceipt, SessionClosed | ActorCrashed>
  /** Succeeds once the operating system took the answer. */
  readonly answer: (
    requestId: string,
    answer: RequestAnswer
  ) => Effect.Effect<void, AnswerRefused | SessionClosed | ActorCrashed>
  /** By its id or the part of it behind the last `#`. */
  readonly setMode: (mode: string) => Effect.Effect<void, CallError | SettingRefused | SessionClosed | ActorCrashed>
  /** Ends the agent and says what that proved. The scope does the same. Idempotent; if interrupted it goes on. */
  readonly close: Effect.Effect<CleanupReport>
}

export type OpenError =
  | SessionOpenError
  | PolicyNotEnforceable
  | AgentMissing
  | ProviderSetupFailed
  | EnvironmentRefused

export class Runner extends Context.Service<
  Runner,
  {
    /** Starts an agent and opens a session; both end with the scope. A failed or interrupted open leaves nothing. */
    readonly open: (options: OpenOptions) => Effect.Effect<OpenedSession, OpenError, Scope.Scope>
    /** Every event of a session, or of all, from now on. Its reader is waited for. Ends with the scope. */
    readonly events: (filter?: { readonly sessionId?: string }) => Effect.Effect<Subscription, never, Scope.Scope>
    /** The live tree of actors. */
    readonly tree: Effect.Effect<ReadonlyArray<Row>>
  }
>()("greenroom/actors/Runner") {}

type Services = Connections | Files | Ids | Journal | Registry

export const layer: Layer.Layer<Runner, never, Services> = Layer.effect(
  Runner,
  Effect.gen(function* () {
    // Without the scope that this layer is built in: what is opened belongs to whoever opens it.
    const services = Context.pick(Connections, Files, Ids, Journal, Registry)(yield* Effect.context<Services>())
    const journal = yield* Journal
    const registry = yield* Registry
    const ids = yield* Ids

    const openParts = Effect.fnUntraced(function* (options: OpenOptions) {
      const { provider, policy } = options
      const verdict = gateVerdict(policy, provider.traits)
      if (verdict._tag === "NotEnforceable") {
        return yield* new PolicyNotEnforceable({ agent: provider.id, policy, effects: verdict.effects })
      }
      const launch = yield* provider.launch({ ...options, model: options.model, modelServer: options.modelServer })
      const session = yield* openSession({
        sessionId: options.sessionId ?? (yield* ids.next("session")),
        runId: options.runId ?? (yield* ids.next("run")),
        agent: provider.id,
        traits: provider.traits,
        launch: { ...launch, ...(options.backend === undefined ? {} : { backend: options.backend }) },
        policy,
        unverified: verdict._tag === "OpenUnverified" ? verdict.effects : [],
        canAsk: options.canAsk ?? false,
        mcpServers: options.mcpServers ?? [],
        mode: options.mode,
        ...(options.recordsOf === undefined ? {} : { recordsOf: options.recordsOf }),
        model: provider.traits.modelAtLaunch === true ? undefined : options.model
      }).pipe(Effect.provideContext(services))
      return opened(session, journal, ids)
    })

    return Runner.of({
      open: Effect.fn("Runner.open")((options) => openWhole(openParts(options))),
      events: (filter) => journal.subscribe(filter ?? {}),
      tree: Effect.sync(() => registry.snapshot())
    })
  })
)

const opened = (session: Session, journal: Journal["Service"], ids: Ids["Service"]): OpenedSession => {
  const { sessionId, ref } = session

  const closed = closedErrors(sessionId)

  const cancelTurn = (turnId?: string, by: "interrupt" | "runCancel" = "interrupt") =>
    ref
      .ask({ _tag: "Cancel", payload: { by, ...(turnId === undefined ? {} : { turnId }) } })
      .pipe(Effect.catchTags(closed))

  const promptParts = Effect.fnUntraced(function* (input: PromptInput, options: PromptOptions) {
    const turnId = options.turnId ?? (yield* ids.next("turn"))
    const subscription = options.events === "discard" ? undefined : yield* journal.subscribe({ sessionId, turnId })
    const deadline = options.deadline === undefined ? {} : { deadlineMs: Duration.toMillis(options.deadline) }
    const accept = ref.ask({ _tag: "Prompt", payload: { turnId, parts: partsOf(input), ...deadline } }).pipe(
      Effect.catchTags(closed),
      Effect.map(
        () =>
          session.outcome(turnId) ?? Effect.die(new InvariantViolated({ invariant: "session.turnKnown", detail: "" }))
      )
    )
    // A session that is closed has ended its turns.
    const cancelled = (outcome: Effect.Effect<TurnOutcome>) =>
      Effect.andThen(Effect.ignore(cancelTurn(turnId)), outcome)
    // The session accepts or refuses without waiting for anybody. What it has accepted is always somebody's to cancel.
    const outcome = yield* Effect.acquireRelease(accept, cancelled)
    return {
      turnId,
      events:
        subscription === undefined
          ? Stream.empty
          : Stream.takeUntil(subscription.events, (event) => isTurnTerminal(event)),
      outcome,
      cancel: cancelled(outcome)
    } satisfies PromptHandle
  })

  /** A prompt that is refused leaves no subscription behind. No span: it would cost a prompt as much as its acceptance. */
  const prompt = (input: PromptInput, options: PromptOptions = {}) => openWhole(promptParts(input, options))

  return {
    sessionId,
    runId: session.runId,
    view: session.view,
    attach: session.attach,
    died: session.died,
    agent: session.initialized,
    settings: session.created,
    link: session.claim.connection.link,
    prompt,
    cancel: cancelTurn,
    answer: (requestId, answer) =>
      ref.ask({ _tag: "Answer", payload: { requestId, answer } }).pipe(Effect.catchTags(closed)),
    setMode: (modeId) => ref.ask({ _tag: "SetMode", payload: { modeId } }).pipe(Effect.catchTags(closed)),
    close: session.close
  }
}

/** A mailbox that suspends is never full, and these asks have no deadline. */
const closedErrors = (sessionId: string) => ({
  ActorStopped: () => Effect.fail(new SessionClosed({ sessionId })),
  MailboxFull: (error: MailboxFull) => Effect.die(error),
  AskTimedOut: (error: AskTimedOut) => Effect.die(error)
})

const partsOf = (input: PromptInput): ReadonlyArray<PromptPart> =>
  typeof input === "string" ? [{ _tag: "Text", text: input }] : input
