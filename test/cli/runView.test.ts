import { describe, expect, it } from "vitest"
import { plain } from "../../src/cli/paint.ts"
import { activityOf, newView, type Output, type View, viewed } from "../../src/cli/runView.ts"
import { limits } from "../../src/schema/limits.ts"
import type { FileChange, PlanStep, ToolExecution } from "../../src/schema/prp/activity.ts"
import { type Draft, draftOf, envelope, type Event, type EventDraft } from "../../src/schema/prp/event.ts"
import type { EmittedEventType, EventPayloads } from "../../src/schema/prp/payload.ts"
import { turnTerminal } from "../../src/schema/prp/turnTerminal.ts"

const stamp = {
  sourceEventId: "s:1",
  sourceSeq: 1,
  sourceInstanceId: "s",
  runId: "run_1",
  emittedAt: "2026-01-01T00:00:00.000Z",
  normalizedSessionId: "session_1"
}

const draft = <Type extends EmittedEventType>(
  eventType: Type,
  payload: EventPayloads[Type],
  native?: unknown
): Draft<Type> => draftOf(eventType, payload, native === undefined ? {} : { debug: { native } })

const follow = (
  drafts: ReadonlyArray<EventDraft>
): { readonly view: View; readonly outputs: ReadonlyArray<Output> } => {
  let view = newView
  const outputs: Array<Output> = []
  for (const one of drafts) {
    const event: Event = envelope(one, stamp)
    const [next, shown] = viewed(view, event, plain)
    view = next
    outputs.push(...shown)
  }
  return { view, outputs }
}

const on = (channel: Output["channel"], drafts: ReadonlyArray<EventDraft>): string =>
  follow(drafts)
    .outputs.filter((output) => output.channel === channel)
    .map(({ text }) => text)
    .join("")

const delta = (text: string, kind: "assistant_message" | "reasoning" = "assistant_message") =>
  draft("item.delta", { kind, text })

const itemEnd = (kind: "assistant_message" | "reasoning" = "assistant_message") =>
  draft("item.completed", { kind, text: "", textCharacters: 0, textTruncated: false, status: "completed" })

const tool = (fields: Partial<ToolExecution> = {}): ToolExecution => ({
  schema: "paperclip.tool.execution.v1",
  executionId: "t1",
  transport: "process",
  operation: "execute",
  status: "running",
  progress: "wc -l",
  output: null,
  outputBytes: 0,
  outputTruncated: false,
  outputDigest: null,
  ...fields
})

const toolRun = (end: Partial<ToolExecution>): ReadonlyArray<EventDraft> => [
  draft("tool.execution.started", tool()),
  draft("tool.execution.completed", tool({ status: "completed", progress: null, ...end }))
]

const completed = turnTerminal("t", {
  _tag: "Completed",
  stopReason: "end_turn",
  reply: "message",
  undeliveredEvents: 0
})

describe("the answer", () => {
  it("is the text of the messages, each ended with its line", () => {
    expect(on("answer", [delta("hel"), delta("lo"), itemEnd(), delta("two\n"), itemEnd()])).toBe("hello\ntwo\n")
    expect(on("answer", [itemEnd()])).toBe("")
  })

  it("is safe, also where a control character is cut in two", () => {
    expect(on("answer", [delta("a\u001b[2J"), delta("b\r"), delta("\nc\r"), delta("d"), itemEnd()])).toBe(
      "a\ufffd[2Jb\nc\ufffdd\n"
    )
    expect(on("answer", [delta("a\r"), itemEnd()])).toBe("a\n")
  })

  it("begins a new line after a tool has run", () => {
    expect(on("answer", [delta("I look."), ...toolRun({}), delta("Done."), itemEnd()])).toBe("I look.\nDone.\n")
    expect(on("answer", [delta("I look.\n"), ...toolRun({}), delta("Done."), itemEnd()])).toBe("I look.\nDone.\n")
  })

  it("names what is not text", () => {
    const content = { type: "image", mimeType: "image/png\u001b" }
    expect(on("answer", [draft("item.delta", { kind: "assistant_message", text: "", content })])).toBe(
      "[image image/png\ufffd]"
    )
  })

  it("has no thoughts, tools, plans or notices in it", () => {
    const others = [delta("hm", "reasoning"), itemEnd("reasoning"), ...toolRun({ output: "x" }), completed]
    expect(on("answer", others)).toBe("")
  })
})

describe("a thought", () => {
  it("is shown in lines, before what comes next", () => {
    const { outputs } = follow([delta("first I ", "reasoning"), delta("look\n\nthen\u0007", "reasoning"), delta("hi")])
    expect(outputs.map(({ text }) => text)).toEqual(["  · first I look\n", "  · then\ufffd\n", "hi"])
  })

  it("is shown when the turn ends, and once", () => {
    expect(on("progress", [delta("hm", "reasoning"), completed, completed])).toBe("  · hm\n")
  })

  it("is bounded in characters and lines", () => {
    const max = limits.shownThoughtCharactersMax
    const long = on("progress", [
      ...Array.from({ length: 3 }, () => delta("x".repeat(max / 2), "reasoning")),
      completed
    ])
    expect(long.replace(/[^x]/g, "")).toHaveLength(max)
    const lines = on("progress", [delta("y\n".repeat(limits.shownOutputLinesMax + 1), "reasoning"), completed])
    expect(lines.split("\n").at(-2)).toBe("  · … 2 more lines")
  })
})

describe("a tool call", () => {
  it("is one line when it has ended, with its exit code and the end of its output", () => {
    const output = Array.from({ length: limits.shownOutputLinesMax + 1 }, (_, index) => `line ${index}`).join("\n")
    expect(
      on("progress", toolRun({ exitCode: 0, output }))
        .split("\n")
        .slice(0, 3)
    ).toEqual(["  ✓ run wc -l (exit code 0)", "      … 2 more lines", "      line 2"])
    const fitting = Array.from({ length: limits.shownOutputLinesMax }, (_, index) => `line ${index}`).join("\n")
    expect(on("progress", toolRun({ output: fitting }))).not.toContain("more lines")
  })

  it("keeps to itself what was read, but not why reading failed", () => {
    const read = { operation: "read", output: "secret" } as const
    expect(on("progress", toolRun(read))).toBe("  ✓ read wc -l\n")
    expect(on("progress", toolRun({ ...read, status: "failed" }))).toBe("  ✗ read wc -l\n      secret\n")
  })

  it("that was closed for the agent keeps its title", () => {
    expect(on("progress", toolRun({ status: "cancelled", progress: "Closed by the runner" }))).toBe(
      "  ■ run wc -l (cancelled)\n"
    )
  })

  it("shows the diff of an edit, bounded", () => {
    const change = (lines: number): FileChange => ({
      path: "a.txt",
      operation: "modify",
      previousPath: null,
      additions: lines,
      deletions: 0,
      binary: false,
      diff: `--- a/a.txt\n+++ b/a.txt\n${Array.from({ length: lines }, (_, index) => `+${index}\u001b\n`).join("")}`
    })
    const edit = (...files: ReadonlyArray<FileChange>) =>
      on("progress", [
        draft("workspace.change.updated", {
          schema: "paperclip.workspace.diff.v1",
          changeSetId: "t1",
          revision: 1,
          source: "harness_reported",
          complete: false,
          files,
          totals: { files: files.length, additions: 0, deletions: 0 },
          patchArtifactRef: null
        }),
        ...toolRun({ operation: "edit" })
      ]).split("\n")
    expect(edit(change(1))).toEqual(["  ✓ edit wc -l (+1 -0)", "      +0\ufffd", ""])
    expect(edit(change(limits.shownDiffLinesMax))).toHaveLength(limits.shownDiffLinesMax + 2)
    expect(edit(change(limits.shownDiffLinesMax + 1)).at(-2)).toBe("      … 2 more lines")
    expect(edit(change(1), change(1))[1]).toBe("    a.txt +1 -0")
  })

  it("names what runs while it runs", () => {
    const { view } = follow([draft("tool.execution.started", tool({ progress: "make\u0007 all" }))])
    expect(activityOf(view)).toBe("run make\ufffd all")
    expect(activityOf(follow([...toolRun({})]).view)).toBe("waiting for the agent")
  })
})

describe("a plan", () => {
  const plan = (...statuses: ReadonlyArray<PlanStep["status"]>) =>
    draft("plan.updated", {
      schema: "paperclip.plan.updated.v1",
      planId: "p",
      revision: 1,
      steps: statuses.map((status, index) => ({ stepId: `step-${index}`, body: `do ${index}\u0007`, status })),
      complete: false,
      syncStatus: "not_applicable"
    })

  it("is shown whole when it is new, and then what is done", () => {
    const shown = on("progress", [
      plan("in_progress", "pending"),
      plan("completed", "in_progress"),
      plan("completed", "completed")
    ])
    expect(shown).toBe("  Plan\n  ▸ do 0\ufffd\n  ☐ do 1\ufffd\n  ☑ do 0\ufffd\n  ☑ do 1\ufffd\n")
  })

  it("is shown again when its steps are others", () => {
    expect(on("progress", [plan("pending"), plan("pending", "pending")]).match(/Plan/g)).toHaveLength(2)
  })
})

describe("a request", () => {
  const created = (requestId: string, command?: string) =>
    draft(
      "runtime_request.created",
      {
        request: {
          schema: "paperclip.runtime_request.v1",
          requestKind: "runtime",
          requestId,
          type: "permission",
          status: "pending",
          prompt: `Do ${requestId}`
        }
      },
      { toolCall: { rawInput: { command } } }
    )
  const settled = (requestId: string, action: string, by: string) =>
    draft("runtime_request.resolved", { requestId, action, by })

  it("is open until it is settled, in any way", () => {
    expect(follow([created("a"), created("b")]).view.questions.map(({ requestId }) => requestId)).toEqual(["a", "b"])
    expect(follow([created("a"), created("b"), settled("a", "accept", "answer")]).view.questions).toHaveLength(1)
    for (const type of ["runtime_request.expired", "runtime_request.cancelled"] as const)
      expect(follow([created("a"), draft(type, { requestId: "a" })]).view.questions).toEqual([])
    expect(follow([created("a"), completed]).view.questions).toEqual([])
  })

  it("is counted as asked, and as allowed or denied once it is settled", () => {
    const drafts = [
      ...["a", "b", "c", "d"].map((id) => created(id)),
      settled("a", "accept", "policy"),
      settled("b", "accept_always", "answer"),
      settled("c", "decline", "answer")
    ]
    expect(follow(drafts).view.counts).toEqual({ asked: 4, allowed: 2, denied: 1 })
  })

  it("says who settled it how, and the command that its title does not", () => {
    expect(on("progress", [created("a", "rm x"), settled("a", "accept", "policy")])).toBe(
      "  ? Do a: allowed by the policy\n      $ rm x\n"
    )
    expect(on("progress", [created("a", "Do a"), settled("a", "decline", "answer")])).toBe("  ? Do a: denied by you\n")
  })

  it("is a notice when there was nobody to ask", () => {
    expect(on("notice", [created("a"), settled("a", "decline", "headless")])).toBe(
      "  ? Do a: denied, because there is no terminal to ask on\n"
    )
  })
})

describe("a notice", () => {
  const notice = (severity: "info" | "warning" | "error") =>
    draft("provider.notice.recorded", {
      schema: "paperclip.provider.notice.v1",
      noticeId: "n",
      severity,
      category: "c",
      scope: "turn",
      recoverable: true,
      userActionable: false,
      summary: "look\u001b out"
    })

  it("is shown when it is more than information", () => {
    expect(on("notice", [notice("info"), notice("warning"), notice("error")])).toBe(
      "  ! look\ufffd out\n  ! look\ufffd out\n"
    )
  })
})
