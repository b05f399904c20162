/** Calls of tools of the control plane in a fixture: each has one input and one end, and both speak of the same. */
import type { PrpIssue } from "../../errors.ts"
import type { Fixture } from "../contract/fixture.ts"
import { nativeAt } from "../native.ts"
import { canonicallyEqual } from "./canonicalJson.ts"

/** An event of a fixture and where it stands first. */
export interface PlacedEvent {
  readonly event: Fixture["events"][number]
  readonly path: string
}

/** `events` without repetitions. */
export const semanticCallIssues = (
  { identity }: Fixture,
  events: ReadonlyArray<PlacedEvent>
): ReadonlyArray<PrpIssue> => {
  const calls = events.flatMap(callOf)
  return [
    ...calls.flatMap((call) => correlationIssues(call, identity.normalizedSessionId)),
    ...[...Map.groupBy(calls, ({ callId }) => callId).values()].flatMap(pairIssues)
  ]
}

interface Call {
  readonly event: PlacedEvent["event"]
  readonly path: string
  readonly envelope: unknown
  readonly callId: unknown
  readonly isInput: boolean
}

const callTypes: ReadonlySet<string> = new Set([
  "semantic_tool.input",
  "semantic_tool.result",
  "semantic_tool.reconciled",
  "mcp_app.tool_input",
  "mcp_app.tool_result"
])

const callOf = ({ event, path }: PlacedEvent): ReadonlyArray<Call> => {
  const envelope = callTypes.has(event.eventType) ? nativeAt(event.payload, "semantic_tool") : undefined
  if (envelope === undefined) return []
  const callId = nativeAt(envelope, "callId")
  return [
    { event, path: `${path}/payload/semantic_tool`, envelope, callId, isInput: nativeAt(envelope, "phase") === "input" }
  ]
}

const correlationIssues = ({ event, path, envelope }: Call, sessionId: string): ReadonlyArray<PrpIssue> => {
  const expected = {
    runId: event.runId,
    normalizedSessionId: event.normalizedSessionId ?? sessionId,
    turnId: event.turnId,
    itemId: event.itemId
  }
  return Object.entries(expected)
    .filter(([name, id]) => nativeAt(envelope, "correlation", name) !== id)
    .map(([name]) => ({ path: `${path}/correlation/${name}`, expectation: "Expected the id of the event" }))
}

const pairIssues = (calls: ReadonlyArray<Call>): ReadonlyArray<PrpIssue> => {
  const inputs = calls.filter(({ isInput }) => isInput)
  const ends = calls.filter(({ isInput }) => !isInput)
  const [input] = inputs
  const [end] = ends
  if (inputs.length === 1 && ends.length === 1 && input !== undefined && end !== undefined)
    return differences(input, end)
  const path = calls[0]?.path ?? ""
  return [{ path, expectation: `Expected one input and one end of the call, not ${inputs.length} and ${ends.length}` }]
}

/** Whoever reconciles a call after a crash need not know the request that it came from. */
const differences = (input: Call, end: Call): ReadonlyArray<PrpIssue> =>
  [["operationId"], ["idempotencyKey"], ...(isReconciled(end) ? correlationIds : [["correlation"]])]
    .filter((path) => !canonicallyEqual(nativeAt(input.envelope, ...path), nativeAt(end.envelope, ...path)))
    .map((path) => ({
      path: `${end.path}/${path.join("/")}`,
      expectation: "Expected the same as in the input of the call"
    }))

const isReconciled = ({ envelope }: Call): boolean => nativeAt(envelope, "phase") === "reconciled"

const correlationIds = ["runId", "normalizedSessionId", "turnId", "itemId"].map((name) => ["correlation", name])
