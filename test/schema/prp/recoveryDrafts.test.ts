import { describe, expect, it } from "@effect/vitest"
import { draftOf } from "../../../src/schema/prp/event.ts"
import { recoveryOf } from "../../../src/schema/prp/recoveryDrafts.ts"
import { eventOf, requireValid, types } from "./feed.ts"

const request = {
  schema: "paperclip.runtime_request.v1",
  requestKind: "runtime",
  requestId: "q1",
  type: "permission",
  status: "pending",
  prompt: "May I?",
  choices: [{ key: "a", label: "Yes" }],
  content: ["of any size"]
} as const

const { content: _, ...contractual } = request
const asked = { ...contractual, status: "expired" }

const created = eventOf(draftOf("runtime_request.created", { request }, { turnId: "t1" }))

const records = [
  { kind: "session", value: { runId: "r1", sessionId: "s1" } },
  { kind: "run", value: { runId: "r1" } },
  { kind: "turn", value: { runId: "r1", sessionId: "s1", turnId: "t1" } },
  { kind: "turn", value: { runId: "r1", sessionId: "s1", turnId: "t2" } },
  { kind: "session", value: { runId: "r2", sessionId: "s2" } }
]

describe("recoveryOf", () => {
  it("ends requests, then turns, then the session, of each session by itself", () => {
    const entries = recoveryOf({ requests: [{ created }], records })
    expect(entries.map(({ drafts, ...place }) => [place, types(drafts)])).toStrictEqual([
      [{ runId: "r1", sessionId: "s1" }, ["runtime_request.expired", "turn.failed", "turn.failed", "session.failed"]],
      [{ runId: "r2", sessionId: "s2" }, ["session.failed"]]
    ])
    for (const draft of entries.flatMap(({ drafts }) => drafts)) requireValid(draft)
  })

  it("says why, and of a request what it was and that it is not asked again", () => {
    const [{ drafts } = { drafts: [] }] = recoveryOf({ requests: [{ created }], records })
    expect(drafts.map(({ payload, turnId }) => ({ payload, turnId }))).toMatchObject([
      {
        turnId: "t1",
        payload: {
          requestId: "q1",
          requestKind: "runtime",
          replayAllowed: false,
          reason: "provider_process_lost",
          request: asked
        }
      },
      { turnId: "t1", payload: { status: "failed", reason: "runner_restarted" } },
      { turnId: "t2", payload: { status: "failed", reason: "runner_restarted" } },
      { payload: { code: "provider_process_lost", reason: "runner_restarted" } }
    ])
    expect(Object(drafts[0]?.payload).request).toStrictEqual(asked)
  })

  it("says nothing where nothing was open", () => {
    expect(recoveryOf({ requests: [], records: [{ kind: "run", value: {} }] })).toStrictEqual([])
  })
})
