/** The event types of PRP v2: those of v1 but two, and four about capabilities and goals of a session. */
import * as Schema from "effect/Schema"
import { EventType } from "../eventType.ts"

const isInV2 = (type: EventType): type is Exclude<EventType, "runner.backpressure" | "semantic_tool.reconciled"> =>
  type !== "runner.backpressure" && type !== "semantic_tool.reconciled"

export const EventTypeV2 = Schema.Literals([
  ...EventType.literals.filter(isInV2),
  "session.capabilities.updated",
  "session.goal.snapshot",
  "session.goal.updated",
  "session.goal.cleared"
]).annotate({ expected: "an event type of PRP v2" })
export type EventTypeV2 = typeof EventTypeV2.Type
