/** The requests of the agents of a run: what they asked, what they got, and what was recorded of it. */
import type { EventDraft } from "../../../src/schema/prp/event.ts"
import type { FakeAgent, Json } from "../../../src/testing/FakeLinks.ts"
import { valueAt } from "../observe.ts"
import type { InvariantName } from "./invariants.ts"
import type { Problem } from "./problems.ts"

export class RequestBook {
  private readonly problem: Problem<InvariantName>
  private readonly reached: Set<string>
  private readonly askedBy = new Map<FakeAgent, Array<unknown>>()
  /** Requests of a turn that have no end yet, by our id. */
  private readonly open = new Map<string, { readonly turnId: string; readonly nativeId: string }>()

  constructor(problem: Problem<InvariantName>, reached: Set<string>) {
    this.problem = problem
    this.reached = reached
  }

  readonly asked = (agent: FakeAgent, id: unknown): void => {
    this.askedBy.set(agent, [...(this.askedBy.get(agent) ?? []), id])
  }

  /** Before it is in the journal. */
  readonly recording = (draft: EventDraft, agent: FakeAgent | undefined): void => {
    const { payload, eventType, turnId = "" } = draft
    const pending = valueAt(payload, "request")
    if (pending !== undefined) {
      const requestId = String(valueAt(pending, "requestId"))
      return void this.open.set(requestId, { turnId, nativeId: String(valueAt(pending, "toolCallId")) })
    }
    const requestId = String(valueAt(payload, "requestId"))
    const found = this.open.get(requestId)
    if (found === undefined) return this.problem("answeredOnce", `${requestId} is recorded as ended, and is not open`)
    this.open.delete(requestId)
    const action = String(valueAt(payload, "action"))
    this.reached.add(`${eventType} ${String(valueAt(payload, "by"))} ${action}`)
    if (action === "undelivered") return
    const written = agent === undefined ? [] : answersTo(agent, found.nativeId)
    if (!written.some((frame) => actionOf(frame) === action)) {
      this.problem("recordedAfterWrite", `${eventType} (${action}) is recorded before its write`)
    }
  }

  readonly atTerminal = (turnId: string): void => {
    for (const [requestId, request] of this.open) {
      if (request.turnId === turnId)
        this.problem("requestsEndFirst", `${requestId} is open at the terminal of ${turnId}`)
    }
  }

  readonly nothingLeft = (): void => {
    if (this.open.size > 0) this.problem("nothingLeft", "a request is recorded as open for ever")
  }

  /** Ids are equal only with their JSON type. */
  readonly checkAnswers = (agent: FakeAgent): void => {
    const asked = this.askedBy.get(agent) ?? []
    const given = agent.written.filter((frame) => frame["method"] === undefined)
    for (const { id } of given) {
      const times = given.filter((frame) => frame["id"] === id).length
      const due = asked.filter((one) => one === id).length
      if (due === 0) this.problem("answeredOnce", `${JSON.stringify(id)} was answered, and nobody asked it`)
      else if (times > due) this.problem("answeredOnce", `request ${JSON.stringify(id)} was answered twice`)
    }
  }
}

const answersTo = (agent: FakeAgent, id: string): ReadonlyArray<Json> =>
  agent.written.filter((frame) => frame["method"] === undefined && JSON.stringify(frame["id"]) === id)

/** In the words of the events. */
const actionOf = (frame: Json): string => {
  const optionId = valueAt(frame, "result", "outcome", "optionId")
  if (optionId === undefined) return "cancel"
  return optionId === "yes" ? "accept" : "decline"
}
