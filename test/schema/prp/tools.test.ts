import { describe, expect, it } from "@effect/vitest"
import { digestOf } from "../../../src/schema/identity.ts"
import { limits } from "../../../src/schema/limits.ts"
import {
  ended,
  feed,
  feedTurn,
  payloadsOf,
  sessionState,
  textContent,
  toolCall,
  toolUpdate,
  turnState,
  types,
  update
} from "./feed.ts"

const last = (drafts: ReadonlyArray<{ readonly payload: unknown }>) => drafts.at(-1)?.payload

const completedWith = (fields: Readonly<Record<string, unknown>>) =>
  payloadsOf(
    feedTurn(toolCall("c"), toolUpdate("c", { status: "completed", ...fields })).drafts,
    "tool.execution.completed"
  )[0]

const diff = (path: string, oldText: string | null = null, newText = "alpha\n") => ({
  type: "diff",
  path,
  oldText,
  newText
})

const noticeCategories = (drafts: Parameters<typeof payloadsOf>[0]) =>
  payloadsOf(drafts, "provider.notice.recorded").map((payload) => payload.category)

describe("tool calls", () => {
  it("start once, progress, and complete with output, digest and exit code", () => {
    const pending = toolCall("call_1_0", {
      title: "Run a probe command",
      locations: [{ path: "/workspace/src/a.ts", line: 3 }],
      rawInput: { command: "echo hi" }
    })
    const running = toolUpdate("call_1_0", { content: textContent("hi\n") })
    const text = "hi\n<shellId: 0 completed with exit code 0>"
    const done = toolUpdate("call_1_0", {
      status: "completed",
      content: textContent(text),
      rawOutput: { content: text, detailedContent: text }
    })
    const { drafts: all, state } = feedTurn(pending, running, done)
    const drafts = all.filter(({ eventType }) => eventType.startsWith("tool.execution."))
    const call = {
      schema: "paperclip.tool.execution.v1",
      executionId: "call_1_0",
      transport: "process",
      operation: "execute",
      name: null,
      target: "src/a.ts"
    }
    const about = { priority: 1, turnId: "t1", itemId: "call_1_0" }
    expect(drafts).toStrictEqual([
      {
        eventType: "tool.execution.started",
        payload: {
          ...call,
          status: "running",
          progress: "Run a probe command",
          output: null,
          outputBytes: 0,
          outputTruncated: false,
          outputDigest: null
        },
        debug: { native: pending },
        ...about
      },
      {
        eventType: "tool.execution.progressed",
        payload: {
          ...call,
          status: "running",
          progress: null,
          output: "hi\n",
          outputBytes: 3,
          outputTruncated: false,
          outputDigest: null
        },
        debug: { native: running },
        ...about
      },
      {
        eventType: "tool.execution.completed",
        payload: {
          ...call,
          status: "completed",
          exitCode: 0,
          progress: null,
          output: text,
          outputBytes: text.length,
          outputTruncated: false,
          outputDigest: digestOf(text)
        },
        debug: { native: done },
        ...about
      }
    ])
    expect(state).toMatchObject({ sawTool: true, sawMessage: false })
  })

  const kinds: ReadonlyArray<readonly [unknown, string, string]> = [
    ["read", "read", "builtin"],
    ["search", "search", "builtin"],
    ["edit", "edit", "builtin"],
    ["delete", "edit", "builtin"],
    ["move", "edit", "builtin"],
    ["execute", "execute", "process"],
    ["think", "unknown", "builtin"],
    ["fetch", "unknown", "builtin"],
    ["switch_mode", "unknown", "builtin"],
    ["other", "unknown", "dynamic"],
    ["later_kind", "unknown", "dynamic"],
    ["constructor", "unknown", "dynamic"],
    [null, "unknown", "dynamic"]
  ]
  for (const [kind, operation, transport] of kinds) {
    it(`of kind ${kind} are ${operation} by ${transport}`, () => {
      expect(last(feedTurn(toolCall("c", { kind })).drafts)).toMatchObject({ operation, transport })
    })
  }

  it("keep what an update leaves out or sets to null", () => {
    const { drafts } = feedTurn(
      toolCall("c", { kind: "edit", name: "Write", locations: [{ path: "/workspace/a" }], content: textContent("x") }),
      toolUpdate("c", { kind: null, name: null, content: null, locations: null, status: "completed" })
    )
    expect(last(drafts)).toMatchObject({ operation: "edit", name: "Write", target: "a", output: "x" })
    const emptied = feedTurn(
      toolCall("c", { locations: [{ path: "/workspace/a" }], content: textContent("x") }),
      toolUpdate("c", { locations: [], content: [] })
    )
    expect(last(emptied.drafts)).toMatchObject({ target: null, output: "x" })
  })

  it("start with the first update that names them, whatever its kind", () => {
    expect(types(feedTurn(toolUpdate("c", { status: "in_progress" })).drafts)).toStrictEqual(["tool.execution.started"])
    const { drafts } = feedTurn(toolCall("c", { status: "failed", content: textContent("no") }))
    expect(types(drafts)).toStrictEqual(["tool.execution.started", "tool.execution.completed"])
    expect(drafts.map((draft) => draft.payload)).toMatchObject([
      { status: "running", output: null },
      { status: "failed", output: "no" }
    ])
    expect(drafts.map((draft) => draft.debug === undefined)).toStrictEqual([true, false])
  })

  it("are one call when they are announced twice", () => {
    expect(types(feedTurn(toolCall("c"), toolCall("c")).drafts)).toStrictEqual([
      "tool.execution.started",
      "tool.execution.progressed"
    ])
  })

  it("get an id of their own when the agent uses one id again", () => {
    const done = toolUpdate("call_0", { status: "completed" })
    const { drafts } = feedTurn(toolCall("call_0"), done, toolCall("call_0"), done, toolCall("call_0"), done)
    expect(drafts.map((draft) => draft.itemId)).toStrictEqual([
      "call_0",
      "call_0",
      "call_0.2",
      "call_0.2",
      "call_0.3",
      "call_0.3"
    ])
  })

  it("complete once: what comes after is a notice", () => {
    const late = toolUpdate("c", { status: "completed", content: textContent("more") })
    const { drafts } = feedTurn(toolCall("c"), toolUpdate("c", { status: "failed" }), late)
    expect(types(drafts).slice(1)).toStrictEqual(["tool.execution.completed", "provider.notice.recorded"])
    expect(drafts.at(-1)).toMatchObject({ payload: { category: "late_tool_update" }, debug: { native: late } })
  })

  it("are named by a digest when the agent's id is not a stable one", () => {
    const { drafts } = feedTurn(toolCall("a b/../c"), toolUpdate("a b/../c", { status: "completed" }))
    expect(drafts[0]?.itemId).toMatch(/^call-[0-9a-f]{32}$/)
    expect(drafts[1]?.itemId).toBe(drafts[0]?.itemId)
  })

  it("have a target up to its bound, and none beyond it", () => {
    const targetOf = (path: string) => {
      const { drafts } = feedTurn(toolCall("c", { locations: [{ path: `/workspace/${path}` }] }))
      return payloadsOf(drafts, "tool.execution.started")[0]?.target
    }
    const longest = "x".repeat(limits.toolTargetCharactersMax)
    expect(targetOf(longest)).toBe(longest)
    expect(targetOf(`${longest}x`)).toBe(null)
  })

  it("without an id are malformed", () => {
    for (const toolCallId of [undefined, null, "", 7, {}]) {
      const { drafts, state } = feedTurn({ ...toolCall("x"), toolCallId })
      expect(noticeCategories(drafts)).toStrictEqual(["malformed_update"])
      expect(state.sawTool).toBe(false)
    }
  })

  it("keep the good fields of an update with bad ones, and say so", () => {
    const bad = [
      { kind: 1 },
      { title: {} },
      { name: [] },
      { status: true },
      { content: "x" },
      { content: [null] },
      { content: [{ type: "content" }] },
      { content: [{ type: "content", content: { type: "text", text: 1 } }] },
      { content: [{ type: "diff", path: "/workspace/a" }] },
      { content: [{ type: "diff", path: "/workspace/a", newText: "x", oldText: 1 }] },
      { locations: {} },
      { locations: [{}] }
    ]
    for (const fields of bad) {
      const native = toolUpdate("c", { status: "completed", rawOutput: "out", ...fields })
      const { drafts } = feedTurn(toolCall("c"), native)
      expect(noticeCategories(drafts)).toStrictEqual(["malformed_update"])
      expect(drafts.at(-1)?.debug).toStrictEqual({ native })
      if (!("status" in fields)) expect(drafts[1]).toMatchObject({ payload: { status: "completed", output: "out" } })
    }
  })

  it("go on with a status that a later protocol may bring", () => {
    expect(types(feedTurn(toolCall("c", { status: "paused" })).drafts)).toStrictEqual(["tool.execution.started"])
  })

  it("are followed up to a bound of open ones", () => {
    const calls = Array.from({ length: limits.toolCallsMax + 1 }, (_, index) => toolCall(`c${index}`))
    const { drafts, state } = feedTurn(...calls)
    expect(noticeCategories(drafts)).toStrictEqual(["too_many_tool_calls"])
    expect(drafts.at(-1)?.debug).toStrictEqual({ native: calls.at(-1) })
    expect(state.tools.size).toBe(limits.toolCallsMax)
    const freed = feed(state, update(toolUpdate("c0", { status: "completed" })), update(calls.at(-1)))
    expect(types(freed.drafts)).toStrictEqual(["tool.execution.completed", "tool.execution.started"])
  })

  it("are remembered up to a bound once they have ended", () => {
    const calls = Array.from({ length: limits.toolCallsMax + 5 }, (_, index) =>
      toolCall(`c${index}`, { status: "completed" })
    )
    expect(feedTurn(...calls).state.endedTools.size).toBe(limits.toolCallsMax)
  })
})

describe("the end of a turn", () => {
  it("closes open tool calls visibly and invents nothing", () => {
    for (const [how, status] of [
      ["completed", "interrupted"],
      ["failed", "interrupted"],
      ["cancelled", "cancelled"]
    ] as const) {
      const { drafts, state } = feed(
        turnState(),
        update(toolCall("a")),
        update(toolUpdate("a", { content: textContent("x") })),
        update(toolCall("b")),
        ended(how)
      )
      const closed = drafts.slice(3)
      expect(types(closed)).toStrictEqual(["tool.execution.completed", "tool.execution.completed"])
      for (const draft of closed) {
        expect(draft).toMatchObject({ turnId: "t1", payload: { status }, debug: { closedBy: "runner", turn: how } })
        expect(draft.payload).not.toHaveProperty("exitCode")
      }
      expect(closed[0]?.payload).toMatchObject({ output: "x", outputDigest: digestOf("x") })
      expect(state.tools.size).toBe(0)
    }
  })

  it("reports no change of a tool call that it closed", () => {
    const { drafts } = feed(turnState(), update(toolCall("a", { content: [diff("/workspace/a")] })), ended("cancelled"))
    expect(types(drafts)).not.toContain("workspace.change.updated")
  })
})

describe("outside a turn", () => {
  it("a call that is not known is a notice, and a new one is followed", () => {
    const late = feed(sessionState(), update(toolUpdate("c", { status: "completed" })))
    expect(noticeCategories(late.drafts)).toStrictEqual(["late_tool_update"])
    const background = feed(sessionState(), update(toolCall("c")), update(toolUpdate("c", { status: "completed" })))
    expect(types(background.drafts)).toStrictEqual(["tool.execution.started", "tool.execution.completed"])
    expect(background.drafts[0]).not.toHaveProperty("turnId")
  })
})

describe("output", () => {
  it("is kept whole at its bound and cut to its end one past it", () => {
    const bound = limits.toolOutputCharactersMax
    const whole = "😀".repeat(bound)
    expect(completedWith({ content: textContent(whole) })).toMatchObject({
      output: whole,
      outputBytes: 4 * bound,
      outputTruncated: false,
      outputDigest: digestOf(whole)
    })
    const more = `a${whole}`
    expect(completedWith({ content: textContent(more) })).toMatchObject({
      output: whole,
      outputBytes: 4 * bound + 1,
      outputTruncated: true,
      outputDigest: digestOf(more)
    })
  })

  it("is the text of the content, else of the terminal, else the raw output", () => {
    expect(completedWith({})).toMatchObject({ output: null, outputBytes: 0, outputDigest: null })
    expect(completedWith({ content: textContent("") })).toMatchObject({ output: "", outputDigest: digestOf("") })
    expect(completedWith({ content: textContent("a", "b"), rawOutput: "raw" })).toMatchObject({ output: "a\nb" })
    expect(completedWith({ rawOutput: "raw" })).toMatchObject({ output: "raw" })
    expect(completedWith({ rawOutput: { aggregated_output: "all", stdout: "some" } })).toMatchObject({ output: "all" })
    const terminal = (data: string) => toolUpdate("c", { _meta: { terminal_output: { terminal_id: "c", data } } })
    const { drafts } = feedTurn(
      toolCall("c"),
      terminal("a"),
      terminal("b"),
      toolUpdate("c", { status: "completed", rawOutput: "raw" })
    )
    expect(last(drafts)).toMatchObject({ output: "ab", outputBytes: 2, outputDigest: digestOf("ab") })
  })

  it("that grew past its bound has no digest, because nobody saw the whole", () => {
    const data = "x".repeat(limits.toolOutputCharactersMax)
    const terminal = toolUpdate("c", { _meta: { terminal_output_delta: { data } } })
    const { drafts } = feedTurn(toolCall("c"), terminal, terminal, toolUpdate("c", { status: "completed" }))
    expect(last(drafts)).toMatchObject({
      output: data,
      outputBytes: 2 * data.length,
      outputTruncated: true,
      outputDigest: null
    })
  })

  it("is well-formed text", () => {
    expect(completedWith({ content: textContent("a\ud800b") })).toMatchObject({ output: "a\ufffdb", outputBytes: 5 })
  })
})

describe("exit codes", () => {
  const given: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, number]> = [
    [{ rawOutput: { exitCode: 0 } }, 0],
    [{ rawOutput: { exit_code: 127 } }, 127],
    [{ rawOutput: { metadata: { exit: -1 } } }, -1],
    [{ _meta: { terminal_exit: { exit_code: 3 } } }, 3],
    [{ rawOutput: { content: "x\n<shellId: 12 completed with exit code 9>" } }, 9],
    [{ rawOutput: { content: "<shellId: 1 completed with exit code 0>\n<shellId: 1 completed with exit code 2>" } }, 2]
  ]
  for (const [fields, exitCode] of given) {
    it(`are taken from ${JSON.stringify(fields).slice(0, 70)}`, () => {
      expect(completedWith({ status: "failed", ...fields })).toMatchObject({ exitCode })
    })
  }

  const unknown: ReadonlyArray<Readonly<Record<string, unknown>>> = [
    {},
    { rawOutput: { exitCode: null } },
    { rawOutput: { exitCode: "0" } },
    { rawOutput: { exitCode: 0.5 } },
    { rawOutput: { exitCode: 1e300 } },
    { rawOutput: { content: "<shellId: 0 completed with exit code 0> and more" } },
    { rawOutput: { content: "<shellId: x completed with exit code 0>" } },
    { content: textContent("<shellId: 0 completed with exit code 0>") },
    { _meta: { terminal_exit: { exit_code: null, signal: null } } }
  ]
  for (const fields of unknown) {
    it(`stay unknown with ${JSON.stringify(fields).slice(0, 70)}`, () => {
      expect(completedWith(fields)).not.toHaveProperty("exitCode")
    })
  }

  it("stay as they were when a later update has none", () => {
    const { drafts } = feedTurn(
      toolCall("c"),
      toolUpdate("c", { rawOutput: { exitCode: 4 } }),
      toolUpdate("c", { status: "failed" })
    )
    expect(last(drafts)).toMatchObject({ exitCode: 4 })
  })
})

describe("changes", () => {
  it("are reported when the call that proposed them has completed", () => {
    const { drafts } = feedTurn(
      toolCall("c", {
        kind: "edit",
        content: [diff("/workspace/./a.txt", ""), diff("/workspace/b/c.txt", "x\n", "y\n")]
      }),
      toolUpdate("c", { status: "completed" })
    )
    expect(types(drafts)).toStrictEqual([
      "tool.execution.started",
      "workspace.change.updated",
      "tool.execution.completed"
    ])
    expect(drafts[1]).toMatchObject({ turnId: "t1", itemId: "c" })
    expect(drafts[1]?.payload).toStrictEqual({
      schema: "paperclip.workspace.diff.v1",
      changeSetId: "c",
      revision: 1,
      source: "harness_reported",
      complete: false,
      files: [
        {
          path: "a.txt",
          operation: "create",
          previousPath: null,
          binary: false,
          additions: 1,
          deletions: 0,
          diff: "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+alpha\n"
        },
        {
          path: "b/c.txt",
          operation: "modify",
          previousPath: null,
          binary: false,
          additions: 1,
          deletions: 1,
          diff: "--- a/b/c.txt\n+++ b/b/c.txt\n@@ -1,1 +1,1 @@\n-x\n+y\n"
        }
      ],
      totals: { files: 2, additions: 2, deletions: 1 },
      patchArtifactRef: null
    })
  })

  it("of a rejected or failed call are not reported", () => {
    const { drafts } = feedTurn(
      toolCall("c", { kind: "edit", content: [diff("/workspace/a.txt")] }),
      toolUpdate("c", {
        status: "failed",
        rawOutput: { message: "The user rejected this tool call.", code: "rejected" }
      })
    )
    expect(types(drafts)).toStrictEqual(["tool.execution.started", "tool.execution.completed"])
  })

  it("outside the workspace are a notice", () => {
    for (const path of [
      "/etc/passwd",
      "/workspace/../etc/passwd",
      "../x",
      "/workspace2/a",
      "/workspace",
      "C:\\x",
      "a\nb",
      ""
    ]) {
      const done = toolCall("c", { status: "completed", content: [diff(path), diff("/workspace/in.txt")] })
      const { drafts } = feedTurn(done)
      expect(payloadsOf(drafts, "workspace.change.updated")[0]?.files.map((file) => file.path)).toStrictEqual([
        "in.txt"
      ])
      expect(noticeCategories(drafts)).toStrictEqual(["unplaced_change"])
      expect(drafts.at(-1)?.debug).toStrictEqual({ native: done })
    }
  })

  const filesOf = (...content: ReadonlyArray<object>) => {
    const { drafts } = feedTurn(toolCall("c", { status: "completed", content }))
    return payloadsOf(drafts, "workspace.change.updated")[0]
  }

  it("of binary text have no counts and no diff", () => {
    const change = filesOf(diff("/workspace/a", null, "a\0b"), diff("/workspace/b", "\0", "b\n"), diff("/workspace/c"))
    expect(change?.files.map((file) => [file.binary, file.additions, file.diff === null])).toStrictEqual([
      [true, null, true],
      [true, null, true],
      [false, 1, false]
    ])
    expect(change?.totals).toStrictEqual({ files: 3, additions: null, deletions: null })
  })

  it("are compared up to a bound that all files share", () => {
    const bound = limits.comparedTextCharactersMax
    const additions = (...texts: ReadonlyArray<string>) =>
      filesOf(...texts.map((text, index) => diff(`/workspace/${index}`, null, text)))?.files.map(
        (file) => file.additions
      )
    expect(additions("x".repeat(bound))).toStrictEqual([1])
    expect(additions("x".repeat(bound + 1), "y")).toStrictEqual([null, 1])
    expect(additions("x".repeat(bound), "y")).toStrictEqual([1, null])
  })

  it("keep their counts when their diff does not fit", () => {
    const header = "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+\n".length
    const fits = "x".repeat(limits.fileDiffCharactersMax - header)
    const diffsOf = (...texts: ReadonlyArray<string>) => {
      const content = texts.map((text) => diff("/workspace/a", null, `${text}\n`))
      const { drafts } = feedTurn(toolCall("c", { status: "completed", content }))
      return payloadsOf(drafts, "workspace.change.updated")[0]?.files.map((file) => [file.additions, file.diff?.length])
    }
    expect(diffsOf(fits)).toStrictEqual([[1, limits.fileDiffCharactersMax]])
    expect(diffsOf(`${fits}x`)).toStrictEqual([[1, undefined]])
    expect(diffsOf(fits, "y")).toStrictEqual([
      [1, limits.fileDiffCharactersMax],
      [1, undefined]
    ])
  })

  it("have diffs up to a bound that all files share", () => {
    const header = "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+\n".length
    const half = limits.changeSetDiffCharactersMax / 2
    const diffsOf = (...sizes: ReadonlyArray<number>) =>
      filesOf(...sizes.map((size) => diff("/workspace/a", null, `${"x".repeat(size - header)}\n`)))?.files.map(
        (file) => file.diff?.length
      )
    expect(diffsOf(half, half)).toStrictEqual([half, half])
    expect(diffsOf(half, half + 1)).toStrictEqual([half, undefined])
  })

  it("have a path up to its bound, and are a notice beyond it", () => {
    const pathsOf = (path: string) => {
      const { drafts } = feedTurn(toolCall("c", { status: "completed", content: [diff(`/workspace/${path}`)] }))
      return [payloadsOf(drafts, "workspace.change.updated")[0]?.files[0]?.path, noticeCategories(drafts)]
    }
    const longest = "x".repeat(limits.changedPathCharactersMax)
    expect(pathsOf(longest)).toStrictEqual([longest, []])
    expect(pathsOf(`${longest}x`)).toStrictEqual([undefined, ["unplaced_change"]])
  })

  it("are bounded in number", () => {
    const content = Array.from({ length: limits.changedFilesMax + 2 }, (_, index) => diff(`/workspace/${index}`))
    const { drafts } = feedTurn(toolCall("c", { status: "completed", content }))
    expect(payloadsOf(drafts, "workspace.change.updated")[0]?.files).toHaveLength(limits.changedFilesMax)
    expect(noticeCategories(drafts)).toStrictEqual(["unplaced_change"])
  })
})
