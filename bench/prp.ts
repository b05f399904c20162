/**
 * `decodePrp` on values that are already parsed, beside parsing their text. Two events as a runner sends them: a piece of an
 * agent's text, whose objects are all open, and the end of a tool, whose payload is closed.
 *
 * A figure is the median over the rounds of the ratio within a round.
 */
import * as Result from "effect/Result"
import * as z from "zod"
import { limits } from "../src/schema/limits.ts"
import { decodePrp } from "../src/schema/prp/contract/decode.ts"
import { EventType } from "../src/schema/prp/eventType.ts"
import { inTurns, median, microsEach } from "./measure.ts"

const events = 100_000
const rounds = 9

export const run = async (): Promise<Record<string, number>> => {
  const openText = JSON.stringify(openEvent)
  const closedText = JSON.stringify(closedEvent)
  const open: unknown = JSON.parse(openText)
  const closed: unknown = JSON.parse(closedText)
  const measured = await inTurns(rounds, {
    openParse: () => micros(() => JSON.parse(openText) !== undefined),
    open: () => micros(() => Result.isSuccess(decodePrp("event", open))),
    openZod: () => micros(() => zodEvent.safeParse(open).success),
    closedParse: () => micros(() => JSON.parse(closedText) !== undefined),
    closed: () => micros(() => Result.isSuccess(decodePrp("event", closed))),
    closedZod: () => micros(() => zodToolEvent.safeParse(closed).success)
  })
  const ratio = (of: ReadonlyArray<number>, to: ReadonlyArray<number>) =>
    median(of.map((value, round) => value / (to[round] ?? Number.NaN)))
  return {
    openMicros: median(measured.open),
    closedMicros: median(measured.closed),
    openVsParse: ratio(measured.open, measured.openParse),
    openVsZod: ratio(measured.open, measured.openZod),
    closedVsParse: ratio(measured.closed, measured.closedParse),
    closedVsZod: ratio(measured.closed, measured.closedZod)
  }
}

const micros = (accepted: () => boolean): Promise<number> =>
  microsEach(events, async () => {
    let count = 0
    for (let event = 0; event < events; event++) if (accepted()) count += 1
    if (count !== events) throw new Error(`accepted ${count} of ${events} events`)
  })

const envelope = {
  schema: "paperclip.prp.event.v1",
  schemaVersion: 1,
  sourceEventId: "runner_1:42",
  sourceSeq: 42,
  sourceInstanceId: "runner_1",
  sourceKind: "runner",
  runId: "run_7f3a",
  normalizedSessionId: "session_19",
  turnId: "turn_3",
  emittedAt: "2026-01-02T03:04:05.678Z"
}

const openEvent = {
  ...envelope,
  eventType: "item.delta",
  priority: 2,
  itemId: "item_12",
  payload: {
    channel: "progress",
    kind: "assistant_message",
    text: "The test fails because the clock starts before the queue does. I move the start behind the first offer."
  }
}

const closedEvent = {
  ...envelope,
  eventType: "tool.execution.completed",
  priority: 1,
  payload: {
    schema: "paperclip.tool.execution.v1",
    executionId: "call_4",
    transport: "process",
    operation: "execute",
    name: "npm test",
    target: "test/queue.test.ts",
    status: "completed",
    durationMs: 5310,
    exitCode: 0,
    output: "Test Files  1 passed (1)\n     Tests  12 passed (12)\n  Duration  4.81s",
    outputBytes: 71,
    outputTruncated: false,
    outputDigest: `sha256:${"0123456789abcdef".repeat(4)}`
  }
}

// The same in Zod: what its own vocabulary says, so its texts are counted in UTF-16 units.
const text = (min: number, max: number) => z.string().min(min).max(max)
const id = text(1, limits.idCharactersMax)
const name = text(1, limits.nameCharactersMax)
const count = z.int().min(0)
const stableId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,159}$/)
const timestamp = z.iso.datetime({ offset: true }).max(limits.timestampCharactersMax)

const zodEnvelope = {
  schema: z.literal("paperclip.prp.event.v1"),
  schemaVersion: z.literal(1),
  eventType: z.enum(EventType.literals),
  sourceEventId: id,
  sourceSeq: z.int().min(1),
  sourceInstanceId: id,
  sourceKind: z.enum(["runner", "control_plane"]),
  runId: id,
  priority: z.literal([0, 1, 2]),
  emittedAt: timestamp,
  normalizedSessionId: id.optional(),
  observedAt: timestamp.optional(),
  debug: z.record(z.string(), z.unknown()).optional(),
  turnId: name.optional(),
  itemId: name.optional()
}

const zodEvent = z.looseObject({
  ...zodEnvelope,
  payload: z.looseObject({
    channel: z.enum(["progress", "final", "summary", "detail", "unknown"]).optional(),
    providerPhase: z.string().optional(),
    providerMethod: z.string().optional()
  })
})

const zodToolEvent = z.looseObject({
  ...zodEnvelope,
  payload: z.strictObject({
    schema: z.literal("paperclip.tool.execution.v1"),
    executionId: stableId,
    transport: z.enum(["process", "mcp", "dynamic", "builtin"]),
    operation: z.enum(["read", "search", "list", "execute", "edit", "unknown"]),
    name: text(0, limits.shortTextCharactersMax).nullable().optional(),
    target: text(0, limits.toolTargetCharactersMax)
      .regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$)).*$/u)
      .nullable()
      .optional(),
    namespace: text(0, limits.nameCharactersMax).nullable().optional(),
    readOnly: z.boolean().nullable().optional(),
    status: z.enum(["running", "completed", "failed", "cancelled", "interrupted"]),
    durationMs: count.nullable().optional(),
    exitCode: z.int().nullable().optional(),
    progress: text(0, limits.shortTextCharactersMax).nullable().optional(),
    output: text(0, limits.toolOutputCharactersMax).nullable(),
    outputBytes: count,
    outputTruncated: z.boolean(),
    outputDigest: z
      .string()
      .regex(/^sha256:[a-f0-9]{64}$/)
      .nullable()
  })
})
