import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { limits } from "../../src/schema/limits.ts"
import { type NativeRequestId, PermissionRequest } from "../../src/schema/request.ts"
import { permissionRequest } from "../../src/services/permissionRequest.ts"

const origin = { requestId: "r1", turnId: "t1", nativeId: 0, workspaceRoots: ["/ws"] }

const option = (optionId: string, kind = "allow_once", name = "Yes") => ({ optionId, name, kind })

const params = (toolCall: object = {}, options: ReadonlyArray<unknown> = [option("yes")]) => ({
  sessionId: "s1",
  toolCall: { toolCallId: "c1", ...toolCall },
  options
})

const view = (input: unknown, nativeId: NativeRequestId = 0): PermissionRequest =>
  Result.getOrThrow(permissionRequest(input, { ...origin, nativeId }))

const idsOf = (...nativeIds: ReadonlyArray<string>) =>
  view(
    params(
      {},
      nativeIds.map((id) => option(id))
    )
  ).options.map(({ optionId, nativeOptionId }) => [optionId, nativeOptionId])

describe("permissionRequest", () => {
  it("views what a real agent asks", () => {
    const input = {
      toolCall: {
        toolCallId: "toolu_2_0",
        name: "Write",
        status: "pending",
        rawInput: { file_path: "/ws/a.txt", content: "alpha\n" },
        title: "Write a.txt",
        kind: "edit",
        content: [{ type: "diff", path: "/ws/a.txt", oldText: null, newText: "alpha\n" }],
        locations: [{ path: "/ws/a.txt" }]
      },
      options: [
        option("allow-once"),
        option("allow-with-updates", "allow_always"),
        option("reject", "reject_once", "No")
      ],
      sessionId: "s1"
    }
    const request = view(input, "0")
    assert.deepStrictEqual(request, {
      requestId: "r1",
      turnId: "t1",
      sessionId: "s1",
      nativeId: "0",
      toolCallId: "toolu_2_0",
      title: "Write a.txt",
      kind: "edit",
      target: { _tag: "Inside", path: "a.txt" },
      options: [
        { optionId: "allow-once", nativeOptionId: "allow-once", name: "Yes", kind: "allow_once" },
        { optionId: "allow-with-updates", nativeOptionId: "allow-with-updates", name: "Yes", kind: "allow_always" },
        { optionId: "reject", nativeOptionId: "reject", name: "No", kind: "reject_once" }
      ],
      locations: ["/ws/a.txt"],
      content: [{ _tag: "Diff", path: "/ws/a.txt", oldText: null, newText: "alpha\n", truncated: false }],
      raw: input
    })
    assert.isTrue(Schema.is(PermissionRequest)(request))
  })

  it("needs no more than ids and options", () => {
    const request = view(params({ title: null, kind: null, content: null, locations: null }))
    assert.deepInclude(request, { title: "", kind: "unknown", locations: [], content: [] })
    assert.deepInclude(view(params()), { title: "", kind: "unknown", locations: [], content: [] })
    assert.deepStrictEqual(view(params({}, [])).options, [])
  })

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["no session", { toolCall: { toolCallId: "c1" }, options: [] }],
    ["no tool call", { sessionId: "s1", options: [] }],
    ["no tool call id", { sessionId: "s1", toolCall: {}, options: [] }],
    ["no options", { sessionId: "s1", toolCall: { toolCallId: "c1" } }],
    ["an option without an id", params({}, [{ name: "Yes", kind: "allow_once" }])],
    ["an option that is text", params({}, ["yes"])],
    ["a title that is no text", params({ title: 3 })]
  ] as const)("is malformed with %s", (_name, input) => {
    const made = permissionRequest(input, origin)
    assert.strictEqual(Result.isFailure(made) && made.failure._tag, "RequestMalformed")
  })

  it("tolerates kinds that nobody knows", () => {
    const request = view(params({ kind: "teleport" }, [option("yes", "allow_for_a_week")]))
    assert.strictEqual(request.kind, "unknown")
    assert.strictEqual(request.options[0]?.kind, "unknown")
  })

  it("makes hostile texts safe to show, and keeps the originals for the answer", () => {
    const request = view(
      params({ title: "rm\u202e-rf\n", toolCallId: "c\u0000" }, [option("y\u001bes", "allow_once", "Y\u2028")])
    )
    assert.deepInclude(request, { title: "rm\ufffd-rf\ufffd", toolCallId: "c\ufffd" })
    assert.deepStrictEqual(request.options, [
      { optionId: "y\ufffdes", nativeOptionId: "y\u001bes", name: "Y\ufffd", kind: "allow_once" }
    ])
  })

  it("keeps ids that differ different, whatever they look like", () => {
    assert.deepStrictEqual(idsOf("a\u0000", "a\u0001", "a\ufffd", "a\ufffd~2"), [
      ["a\ufffd~3", "a\u0000"],
      ["a\ufffd~4", "a\u0001"],
      ["a\ufffd", "a\ufffd"],
      ["a\ufffd~2", "a\ufffd~2"]
    ])
    assert.deepStrictEqual(idsOf("a", "a", "b"), [
      ["a", "a"],
      ["a", "a"],
      ["b", "b"]
    ])
  })

  it.prop("keeps any ids different that differ", [Schema.Array(Schema.String)], ([nativeIds]) => {
    const shown = new Map<string, string>()
    for (const [optionId, nativeId] of idsOf(...nativeIds)) {
      assert.strictEqual(shown.get(optionId ?? "") ?? nativeId, nativeId)
      shown.set(optionId ?? "", nativeId ?? "")
    }
  })

  it("keeps one option past the bound, so that the request is refused and no work is done for the rest", () => {
    const many = Array.from({ length: limits.requestOptionsMax + 100 }, (_, n) => option(`o${n}`))
    assert.strictEqual(view(params({}, many)).options.length, limits.requestOptionsMax + 1)
  })

  it("cuts texts past their bounds and says so", () => {
    const title = "t".repeat(limits.requestTitleCharactersMax)
    assert.strictEqual(view(params({ title })).title, title)
    assert.strictEqual(view(params({ title: `${title}t` })).title, `${title.slice(1)}…`)
    const text = "x".repeat(limits.requestContentCharactersMax)
    const diff = (oldText: string, newText: string) => ({ type: "diff", path: "a", oldText, newText })
    const block = (words: string) => ({ type: "content", content: { type: "text", text: words } })
    const content = [diff(text, text), diff(`${text}x`, text), diff(text, `${text}x`), block(text), block(`${text}x`)]
    assert.deepStrictEqual(
      view(params({ content })).content.map((shown) => shown._tag !== "Other" && shown.truncated),
      [false, true, true, false, true]
    )
    const name = "n".repeat(limits.optionNameCharactersMax)
    assert.strictEqual(view(params({}, [option("yes", "allow_once", name)])).options[0]?.name, name)
    assert.strictEqual(
      view(params({}, [option("yes", "allow_once", `${name}n`)])).options[0]?.name,
      `${name.slice(1)}…`
    )
  })

  it("shows as many blocks and locations as the bounds admit", () => {
    const content = Array.from({ length: limits.requestContentBlocksMax + 1 }, () => ({ type: "terminal" }))
    const locations = Array.from({ length: limits.requestLocationsMax + 1 }, () => ({ path: "/ws/a" }))
    const request = view(params({ content, locations }))
    assert.strictEqual(request.content.length, limits.requestContentBlocksMax)
    assert.strictEqual(request.locations.length, limits.requestLocationsMax)
    assert.strictEqual(request.target._tag, "None")
  })

  it("names blocks that it does not show", () => {
    const content = [
      { type: "terminal", terminalId: "1" },
      { type: "content", content: { type: "image" } },
      3,
      { type: "diff" }
    ]
    assert.deepStrictEqual(view(params({ content })).content, [
      { _tag: "Other", type: "terminal" },
      { _tag: "Other", type: "content" },
      { _tag: "Other", type: "unknown" },
      { _tag: "Other", type: "diff" }
    ])
  })
})
