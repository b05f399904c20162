import { describe, expect, it } from "@effect/vitest"
import { digestOf } from "../../../src/schema/identity.ts"
import { limits } from "../../../src/schema/limits.ts"
import { feedTurn, payloadsOf, textContent, toolCall, toolUpdate, types, workspace } from "./feed.ts"

const content = (...blocks: ReadonlyArray<unknown>) => blocks.map((block) => ({ type: "content", content: block }))

const filesOf = (drafts: Parameters<typeof payloadsOf>[0]) =>
  payloadsOf(drafts, "workspace.file.referenced").map(({ path, line }) => (line === null ? path : `${path}:${line}`))

const notices = (drafts: Parameters<typeof payloadsOf>[0]) =>
  payloadsOf(drafts, "provider.notice.recorded").map(({ category, summary }) => [category, summary])

const located = (...locations: ReadonlyArray<unknown>) => feedTurn(toolCall("c", { locations })).drafts

describe("the locations of a tool call", () => {
  it("are each an event, in order, once for each line", () => {
    const path = `${workspace}/src/a.ts`
    const first = [{ path, line: 3 }, { path, line: 4 }, { path }, { path: "b/c.txt", line: 0 }, { path: workspace }]
    const { drafts } = feedTurn(
      toolCall("c", { locations: first }),
      toolUpdate("c", { locations: [...first, { path: `${workspace}/d` }] }),
      toolCall("other", { locations: [{ path }] })
    )
    const told = ["src/a.ts:3", "src/a.ts:4", "src/a.ts", "b/c.txt", "."]
    expect(filesOf(drafts)).toStrictEqual([...told, "d", "src/a.ts"])
    const events = drafts.filter(({ eventType }) => eventType === "workspace.file.referenced")
    expect(events.map(({ itemId, turnId }) => [itemId, turnId])).toStrictEqual([
      ...told.map(() => ["c", "t1"]),
      ["c", "t1"],
      ["other", "t1"]
    ])
    const ids = payloadsOf(drafts, "workspace.file.referenced").map(({ referenceId }) => referenceId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(payloadsOf(drafts, "workspace.file.referenced")[0]).toStrictEqual({
      schema: "paperclip.workspace.file_reference.v1",
      referenceId: ids[0],
      source: "harness_reported",
      path: "src/a.ts",
      displayName: "a.ts",
      mediaType: null,
      presentation: "generic",
      line: 3,
      preview: null,
      previewTruncated: false,
      contentDigest: null
    })
  })

  it("outside the workspace are counted in a notice, once", () => {
    const locations = [{ path: "/etc/passwd" }, { path: `${workspace}/../x` }, { path: `${workspace}/in` }]
    const { drafts } = feedTurn(toolCall("c", { locations }), toolUpdate("c", { locations }))
    expect(filesOf(drafts)).toStrictEqual(["in"])
    expect(notices(drafts)).toStrictEqual([
      [
        "unplaced_content",
        "No event has a place for this of the tool call: 2 locations without a safe path inside the workspace."
      ]
    ])
  })

  it("have a path and a name up to their bounds", () => {
    const name = (length: number) => `${"d/".repeat(2)}${"x".repeat(length - 4)}`
    expect(filesOf(located({ path: name(limits.changedPathCharactersMax) }))).toHaveLength(1)
    expect(notices(located({ path: name(limits.changedPathCharactersMax + 1) }))).toHaveLength(1)
    const [file] = payloadsOf(
      located({ path: "x".repeat(limits.displayNameCharactersMax + 1) }),
      "workspace.file.referenced"
    )
    expect(file?.displayName).toHaveLength(limits.displayNameCharactersMax)
  })

  it("are told up to a bound per call, and counted beyond it", () => {
    const many = Array.from({ length: limits.toolReferencesMax }, (_, line) => ({ path: "a", line: line + 1 }))
    expect(notices(located(...many))).toStrictEqual([])
    const drafts = located(...many, { path: "b" })
    expect(filesOf(drafts)).toHaveLength(limits.toolReferencesMax)
    expect(notices(drafts)).toStrictEqual([
      [
        "unplaced_content",
        `No event has a place for this of the tool call: 1 files or media more than the ${limits.toolReferencesMax} that are told.`
      ]
    ])
  })

  it("with a line that is no count are malformed, and still told", () => {
    const drafts = located({ path: "a", line: "3" }, { path: "b", line: -1 })
    expect(filesOf(drafts)).toStrictEqual(["a", "b"])
    expect(notices(drafts).map(([category]) => category)).toStrictEqual(["malformed_update"])
  })

  it("come before the end of their call and behind its start", () => {
    const { drafts } = feedTurn(
      toolUpdate("c", { status: "completed", locations: [{ path: "a" }], rawInput: { x: 1 } })
    )
    expect(types(drafts)).toStrictEqual([
      "tool.execution.started",
      "workspace.file.referenced",
      "provider.notice.recorded",
      "tool.execution.completed"
    ])
  })
})

describe("media in the content of a tool call", () => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" }
  const digest = digestOf("\0\0\0")

  it("are references, never bytes", () => {
    const { drafts } = feedTurn(
      toolCall("c", {
        content: content(
          image,
          { ...image, uri: "https://host/a.png?sig=s3cretvalue" },
          { type: "audio", data: "AAAA", mimeType: "audio/wav" },
          { type: "resource_link", name: "doc", title: "The doc", uri: "https://host/doc" },
          { type: "resource_link", name: "mine", uri: `file://${workspace}/my%20pic.png`, mimeType: "image/png" },
          { type: "resource", resource: { uri: "note://1", text: "embedded", mimeType: "text/plain" } },
          { type: "resource", resource: { uri: "file:///etc/x", blob: "AAAA" } }
        )
      }),
      toolUpdate("c", { content: content(image) })
    )
    expect(
      payloadsOf(drafts, "artifact.viewed").map(({ reference, mediaType, title }) => [reference, mediaType, title])
    ).toStrictEqual([
      [digest, "image/png", null],
      ["https://host/a.png?sig=[REDACTED]", "image/png", null],
      ["https://host/doc", null, "The doc"],
      ["note://1", "text/plain", null]
    ])
    expect(payloadsOf(drafts, "workspace.file.referenced")).toMatchObject([
      { path: "my pic.png", mediaType: "image/png", presentation: "image" }
    ])
    expect(payloadsOf(drafts, "tool.execution.started")[0]?.output).toBe("embedded")
    for (const { payload } of drafts) expect(JSON.stringify(payload)).not.toContain("AAAA")
  })

  it("that cannot be pointed to, and content of other kinds, are named in a notice", () => {
    const { drafts } = feedTurn(
      toolCall("c", {
        content: [
          { type: "terminal", terminalId: "t" },
          { type: "terminal", terminalId: "u" },
          { type: "holo\u001bgram" },
          ...content({ type: "resource_link", name: "n", uri: "file:///etc/passwd" })
        ]
      })
    )
    expect(notices(drafts)).toStrictEqual([
      [
        "unplaced_content",
        "No event has a place for this of the tool call: content of type terminal; content of type without a readable name; a content block of type resource_link."
      ]
    ])
  })
})

describe("the input of a tool call", () => {
  it("is told in a notice without its secrets, when it is there and when it changes", () => {
    const rawInput = { command: "deploy", env: { API_TOKEN: "s3cretvalue" } }
    const { drafts } = feedTurn(
      toolCall("c", { rawInput: {} }),
      toolUpdate("c", { rawInput }),
      toolUpdate("c", { rawInput }),
      toolUpdate("c", { rawInput: "ls" })
    )
    expect(notices(drafts)).toStrictEqual([
      ["tool_input", 'The input of this tool call: {"command":"deploy","env":{"API_TOKEN":"[REDACTED]"}}'],
      ["tool_input", 'The input of this tool call: "ls"']
    ])
    const told = drafts.filter(({ eventType }) => eventType === "provider.notice.recorded")
    expect(told.every(({ debug, itemId }) => debug === undefined && itemId === "c")).toBe(true)
  })

  it("says when it is only a part", () => {
    const [notice] = notices(feedTurn(toolCall("c", { rawInput: { a: "x ".repeat(5000) } })).drafts)
    expect(notice?.[1]).toMatch(/^The input of this tool call, in part: \{"a":"x x /)
  })
})

describe("output that is no text", () => {
  it("is told in a notice, unless the call has text as well", () => {
    const rawOutput = { matches: 3, password: "s3cretvalue" }
    const ended = (fields: object) =>
      notices(feedTurn(toolCall("c"), toolUpdate("c", { status: "completed", rawOutput, ...fields })).drafts)
    expect(ended({})).toStrictEqual([
      ["unplaced_output", 'The output of this tool call is no text: {"matches":3,"password":"[REDACTED]"}']
    ])
    expect(ended({ content: textContent("3 matches") })).toStrictEqual([])
    expect(ended({ rawOutput: {} })).toStrictEqual([])
  })

  it("is the reason of a failure where there is one", () => {
    for (const rawOutput of [{ error: "why" }, { message: "why", code: "rejected" }, { content: "why" }]) {
      const { drafts } = feedTurn(toolCall("c"), toolUpdate("c", { status: "failed", rawOutput }))
      expect(payloadsOf(drafts, "tool.execution.completed")).toMatchObject([{ output: "why" }])
    }
  })

  it("has the exit code of the one shell that it lists", () => {
    const exitOf = (...codes: ReadonlyArray<unknown>) => {
      const contents = [{ type: "other", exitCode: 9 }, ...codes.map((exitCode) => ({ type: "shell_exit", exitCode }))]
      const { drafts } = feedTurn(toolCall("c"), toolUpdate("c", { status: "completed", rawOutput: { contents } }))
      return payloadsOf(drafts, "tool.execution.completed")[0]?.exitCode
    }
    expect([exitOf(3), exitOf(), exitOf(0, 1), exitOf("3")]).toStrictEqual([3, undefined, undefined, undefined])
  })
})
