import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { NativeRequestId, PermissionRequest } from "../../src/schema/request.ts"

describe("request", () => {
  it.each([0, "", "0", null] as const)("keeps the JSON type of the native id %j", (id) => {
    assert.strictEqual(Schema.decodeUnknownSync(NativeRequestId)(JSON.parse(JSON.stringify(id))), id)
  })

  it("crosses a boundary as JSON and back unchanged", () => {
    const request: PermissionRequest = {
      requestId: "r1",
      turnId: "t1",
      sessionId: "s1",
      nativeId: "0",
      toolCallId: "c1",
      title: "Write a.txt",
      kind: "edit",
      target: { _tag: "Inside", path: "a.txt" },
      options: [{ optionId: "yes", nativeOptionId: "yes", name: "Yes", kind: "allow_once" }],
      locations: ["/ws/a.txt"],
      content: [{ _tag: "Diff", path: "a.txt", oldText: null, newText: "a", truncated: false }],
      raw: { anything: [1, null] }
    }
    const decoded = Schema.decodeUnknownSync(PermissionRequest)(JSON.parse(JSON.stringify(request)))
    assert.deepStrictEqual(decoded, request)
  })
})
