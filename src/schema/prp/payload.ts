/**
 * The payload of every event type that we emit. Typed ones are closed; the others are open objects in which a reader keeps
 * and ignores what it does not know.
 */
import * as Schema from "effect/Schema"
import { textOf } from "../characters.ts"
import { Digest } from "../identity.ts"
import { limits } from "../limits.ts"
import {
  ContextCompacted,
  PartialUsage,
  PlanUpdated,
  ProviderNotice,
  ToolExecution,
  WholeUsage,
  WorkspaceDiff
} from "./activity.ts"
import { ArtifactViewed } from "./contract/activity.ts"
import { openPayload as open } from "./contract/event.ts"
import { FileReference } from "./contract/fileReference.ts"
import { Count, Name, ShortText } from "./contract/primitives.ts"
import { runPayloads } from "./runPayloads.ts"
import { RuntimeRequest } from "./runtimeRequest.ts"

/** How a process ended, in PRP's words. `null` is unknown; `inferred`: told by a shell, and maybe a plain exit code. */
export const ProcessExit = Schema.Struct({
  exitCode: Schema.NullOr(Schema.Int),
  signal: Schema.NullOr(Schema.String),
  success: Schema.NullOr(Schema.Boolean),
  inferred: Schema.optionalKey(Schema.Boolean)
})
export type ProcessExit = typeof ProcessExit.Type

export const ItemKind = Schema.Literals(["assistant_message", "reasoning"])
export type ItemKind = typeof ItemKind.Type

const ItemStarted = open({ kind: ItemKind, text: Schema.String, messageId: Schema.optionalKey(Name) })

/** Content that is not text has an empty `text` and says what it is. */
const ItemDelta = open({
  kind: ItemKind,
  text: textOf(0, limits.deltaCharactersMax),
  content: Schema.optionalKey(
    Schema.Struct({
      type: Name,
      mimeType: Schema.optionalKey(Name),
      uri: Schema.optionalKey(ShortText),
      name: Schema.optionalKey(Name),
      title: Schema.optionalKey(Name),
      sizeBytes: Schema.optionalKey(Count),
      digest: Schema.optionalKey(Digest)
    })
  )
})

/** The whole text up to a bound. `interrupted`: closed by the runner, because the turn was cancelled under it. */
const itemEnd = {
  kind: ItemKind,
  text: textOf(0, limits.itemTextCharactersMax),
  textCharacters: Count,
  textTruncated: Schema.Boolean,
  closedBy: Schema.optionalKey(Schema.Literal("runner"))
}
const ItemCompleted = open({ ...itemEnd, status: Schema.Literals(["completed", "interrupted"]) })
const ItemFailed = open({ ...itemEnd, status: Schema.Literal("failed"), message: ShortText })

/** What changed about the session. The whole update stands under the event's `debug.native`. */
const SessionUpdated = open({
  aspect: Schema.Literals(["current_mode", "config_options", "available_commands", "info"]),
  currentModeId: Schema.optionalKey(ShortText),
  configOptions: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        id: ShortText,
        type: Schema.optionalKey(ShortText),
        name: Schema.optionalKey(ShortText),
        description: Schema.optionalKey(ShortText),
        category: Schema.optionalKey(ShortText),
        currentValue: Schema.optionalKey(Schema.Union([ShortText, Schema.Boolean])),
        /** Those of all options share the bound of the list. */
        choices: Schema.optionalKey(
          Schema.Array(
            Schema.Struct({
              value: ShortText,
              name: Schema.optionalKey(ShortText),
              group: Schema.optionalKey(ShortText)
            })
          ).check(Schema.isMaxLength(limits.sessionListEntriesMax))
        ),
        choicesOmitted: Schema.optionalKey(Count)
      })
    ).check(Schema.isMaxLength(limits.sessionListEntriesMax))
  ),
  commands: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        name: ShortText,
        description: Schema.optionalKey(ShortText),
        inputHint: Schema.optionalKey(ShortText)
      })
    ).check(Schema.isMaxLength(limits.sessionListEntriesMax))
  ),
  title: Schema.optionalKey(Schema.NullOr(ShortText)),
  updatedAt: Schema.optionalKey(Schema.NullOr(ShortText)),
  /** Entries that are not in the list: beyond its bound, or not of the protocol's shape. */
  entriesOmitted: Schema.optionalKey(Count)
})

const turnEnd = { reason: Schema.optionalKey(Name), undeliveredEvents: Count }

const AgentErrorSummary = Schema.Struct({ rpcCode: Schema.Finite, rpcMessage: ShortText })

const TurnCompleted = open({
  ...turnEnd,
  status: Schema.Literal("completed"),
  stopReason: Name,
  providerStopReason: Schema.optionalKey(ShortText),
  reply: Schema.Literals(["message", "none"])
})

const TurnFailed = open({
  ...turnEnd,
  status: Schema.Literal("failed"),
  reason: Name,
  message: ShortText,
  classification: Schema.optionalKey(Name),
  agentError: Schema.optionalKey(AgentErrorSummary),
  providerStopReason: Schema.optionalKey(ShortText),
  closeReason: Schema.optionalKey(Name),
  processExit: Schema.optionalKey(ProcessExit),
  stderrTail: Schema.optionalKey(Schema.Array(ShortText).check(Schema.isMaxLength(limits.stderrTailLinesMax)))
})

const turnStop = {
  ...turnEnd,
  reason: Name,
  by: Schema.Literals(["interrupt", "runCancel", "shutdown", "agent"]),
  acknowledged: Schema.Boolean,
  written: Schema.Boolean,
  providerStopReason: Schema.optionalKey(ShortText),
  agentError: Schema.optionalKey(AgentErrorSummary),
  processExit: Schema.optionalKey(ProcessExit)
}
const TurnInterrupted = open({ ...turnStop, status: Schema.Literal("interrupted") })
const TurnCancelled = open({ ...turnStop, status: Schema.Literal("cancelled") })

const RequestSettled = open({
  requestId: textOf(1, limits.idCharactersMax),
  requestKind: Schema.optionalKey(Name),
  action: Schema.optionalKey(Name),
  reason: Schema.optionalKey(ShortText)
})

/** The payload of every event type that we emit. PRP fixes the first ones and leaves the others open. */
export const payloads = {
  "tool.execution.started": ToolExecution,
  "tool.execution.progressed": ToolExecution,
  "tool.execution.completed": ToolExecution,
  "plan.updated": PlanUpdated,
  "workspace.change.updated": WorkspaceDiff,
  "workspace.file.referenced": FileReference,
  "artifact.viewed": ArtifactViewed,
  "context.compacted": ContextCompacted,
  "provider.notice.recorded": ProviderNotice,
  "session.started": open({
    driverSessionId: textOf(1, limits.idCharactersMax),
    provider: Schema.optionalKey(Name),
    providerSessionId: Schema.optionalKey(Schema.NullOr(ShortText))
  }),
  "session.updated": SessionUpdated,
  "session.closed": open({ reason: Schema.optionalKey(ShortText) }),
  "session.failed": open({ code: Name, message: ShortText }),
  "turn.submitted": open({}),
  "turn.started": open({}),
  "turn.completed": TurnCompleted,
  "turn.failed": TurnFailed,
  "turn.interrupted": TurnInterrupted,
  "turn.cancelled": TurnCancelled,
  "item.started": ItemStarted,
  "item.delta": ItemDelta,
  "item.completed": ItemCompleted,
  "item.failed": ItemFailed,
  "runtime_request.created": open({ request: RuntimeRequest }),
  "runtime_request.resolved": RequestSettled,
  "runtime_request.expired": RequestSettled,
  "runtime_request.cancelled": RequestSettled,
  "usage.reported": Schema.Union([WholeUsage, PartialUsage]),
  "harness.ready": open({ driverKind: Name, driverVersion: Schema.NullOr(Name), transport: Name }),
  "harness.exited": open({ processExit: ProcessExit }),
  "runner.backpressure": open({
    state: Schema.Literals(["engaged", "relieved"]),
    retainedBytes: Count,
    limitBytes: Count
  }),
  ...runPayloads
} as const

export type EmittedEventType = keyof typeof payloads

export type EventPayloads = { readonly [Type in EmittedEventType]: (typeof payloads)[Type]["Type"] }
