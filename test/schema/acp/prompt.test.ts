import type { ContentBlock as SdkContentBlock } from "@agentclientprotocol/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type ContentBlock, contentBlocks, fileUri, type PromptInput } from "../../../src/schema/acp/prompt.ts"
import { limits } from "../../../src/schema/limits.ts"

const all = { image: true, embeddedContext: true }

const made = (input: PromptInput, capabilities = {}): ReadonlyArray<ContentBlock> =>
  Result.getOrThrow(contentBlocks(input, capabilities))

const reason = (input: PromptInput, capabilities = {}): string => {
  const result = contentBlocks(input, capabilities)
  return Result.isFailure(result) ? result.failure.reason : "taken"
}

const png = { _tag: "Image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const
const embeddedText = { _tag: "EmbeddedText", path: "/ws/a.txt", text: "alpha" } as const
const embeddedBytes = { _tag: "EmbeddedBytes", path: "/ws/a.bin", data: "AAECAw==" } as const

/** Base64 of so many zero bytes. */
const base64 = (bytes: number): string => {
  const rest = bytes % 3
  return "AAAA".repeat((bytes - rest) / 3) + (rest === 0 ? "" : rest === 1 ? "AA==" : "AAA=")
}

describe("prompt", () => {
  it("sends a plain text as one block", () => {
    assert.deepStrictEqual(made("hello"), [{ type: "text", text: "hello" }])
  })

  it("sends all parts in their order, in the shape of ACP", () => {
    const blocks = made(
      [
        { _tag: "Text", text: "look" },
        png,
        { _tag: "FileLink", path: "/ws/a b.txt", mimeType: "text/plain" },
        { _tag: "FileLink", path: "/ws/c/", name: "folder" },
        embeddedText,
        { ...embeddedBytes, mimeType: "application/octet-stream" }
      ],
      all
    )
    const inSdkTypes: ReadonlyArray<SdkContentBlock> = blocks
    assert.deepStrictEqual(inSdkTypes, [
      { type: "text", text: "look" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      { type: "resource_link", uri: "file:///ws/a%20b.txt", name: "a b.txt", mimeType: "text/plain" },
      { type: "resource_link", uri: "file:///ws/c/", name: "folder" },
      { type: "resource", resource: { uri: "file:///ws/a.txt", text: "alpha" } },
      {
        type: "resource",
        resource: { uri: "file:///ws/a.bin", blob: "AAECAw==", mimeType: "application/octet-stream" }
      }
    ])
  })

  it("makes URIs that give the same path back", () => {
    for (const path of ["/", "/ws/a", "/ws/ä b/100%.txt", "/ws/a?b#c", "/ws/a\\b", "/ws/a\nb", "/ws/漢\u{1f600}"]) {
      const url = new URL(fileUri(path))
      assert.strictEqual(url.protocol, "file:")
      assert.strictEqual(url.search + url.hash, "")
      assert.strictEqual(decodeURIComponent(fileUri(path).slice("file://".length)), path)
    }
  })

  it.each([
    ["no text", ""],
    ["blanks", " \n\t"],
    ["no parts", []],
    [
      "blank parts",
      [
        { _tag: "Text", text: "" },
        { _tag: "Text", text: " " }
      ]
    ]
  ] as ReadonlyArray<[string, PromptInput]>)("refuses a prompt of %s as empty", (_name, input) => {
    assert.strictEqual(reason(input, all), "empty")
  })

  it("takes an image without any text", () => {
    assert.strictEqual(reason([png], all), "taken")
  })

  it("sends images and embedded files only to agents that advertise them", () => {
    for (const capabilities of [{}, { image: null, embeddedContext: null }, { image: false, embeddedContext: false }]) {
      assert.strictEqual(reason([png], capabilities), "image_unsupported")
      assert.strictEqual(reason([embeddedText], capabilities), "embedded_unsupported")
      assert.strictEqual(reason([embeddedBytes], capabilities), "embedded_unsupported")
      assert.strictEqual(reason([{ _tag: "FileLink", path: "/a" }], capabilities), "taken")
    }
    assert.strictEqual(reason([png], { image: true }), "taken")
    assert.strictEqual(reason([embeddedText, embeddedBytes], { embeddedContext: true }), "taken")
  })

  it("refuses the whole prompt for one part, and says which", () => {
    const result = contentBlocks([{ _tag: "Text", text: "a" }, png], {})
    assert.match(Result.isFailure(result) ? result.failure.detail : "", /^part 2: /)
  })

  it.each([
    ["a relative path", { _tag: "FileLink", path: "a.txt" }],
    ["no path", { _tag: "FileLink", path: "" }],
    ["a URI for a path", { _tag: "FileLink", path: "file:///a.txt" }],
    ["a path with NUL", { _tag: "FileLink", path: "/a\0" }],
    ["a path with half a character", { _tag: "FileLink", path: "/a\ud800" }],
    ["a relative path of an embedded file", { ...embeddedText, path: "a.txt" }],
    ["a MIME type that is none", { _tag: "FileLink", path: "/a", mimeType: "text" }],
    ["a MIME type with a line break", { _tag: "FileLink", path: "/a", mimeType: "text/plain\n" }],
    ["an image that is no image", { ...png, mimeType: "text/html" }],
    ["an image without data", { ...png, data: "" }],
    ["base64 without its padding", { ...png, data: "AAE" }],
    ["base64 with padding within", { ...png, data: "AA=AAA==" }],
    ["base64 with too much padding", { ...png, data: "A===" }],
    ["base64 of the other alphabet", { ...png, data: "AA-_" }],
    ["base64 with line breaks", { ...embeddedBytes, data: "AAEC\nAAE" }]
  ] as ReadonlyArray<[string, Exclude<PromptInput, string>[number]]>)("refuses %s as invalid", (_name, part) => {
    assert.strictEqual(reason([part], all), "part_invalid")
  })

  it("takes as many parts as the bound admits", () => {
    const parts = Array.from({ length: limits.promptPartsMax }, () => ({ _tag: "Text", text: "a" }) as const)
    assert.strictEqual(reason(parts), "taken")
    assert.strictEqual(reason([...parts, { _tag: "Text", text: "a" }]), "too_large")
  })

  it("takes a text of as many bytes as the bound admits, in whatever script", () => {
    const max = limits.promptTextBytesMax
    assert.strictEqual(reason("a".repeat(max)), "taken")
    assert.strictEqual(reason("a".repeat(max + 1)), "too_large")
    assert.strictEqual(reason("ä".repeat(max / 2)), "taken")
    assert.strictEqual(reason(`${"ä".repeat(max / 2)}a`), "too_large")
    assert.strictEqual(reason("\u{1f600}".repeat(max / 4)), "taken")
    assert.strictEqual(reason(`${"\u{1f600}".repeat(max / 4)}a`), "too_large")
  })

  it("takes a file of as many bytes as the bound admits, before base64", () => {
    const max = limits.promptFileBytesMax
    assert.strictEqual(reason([{ ...png, data: base64(max) }], all), "taken")
    assert.strictEqual(reason([{ ...png, data: base64(max + 1) }], all), "too_large")
    assert.strictEqual(reason([{ ...embeddedBytes, data: base64(max) }], all), "taken")
    assert.strictEqual(reason([{ ...embeddedBytes, data: base64(max + 1) }], all), "too_large")
    assert.strictEqual(reason([{ ...embeddedText, text: "a".repeat(max) }], all), "taken")
    assert.strictEqual(reason([{ ...embeddedText, text: "a".repeat(max + 1) }], all), "too_large")
  })

  it("takes a path as long as the bound admits", () => {
    const path = `/${"a".repeat(limits.promptPathCharactersMax - 1)}`
    assert.strictEqual(reason([{ _tag: "FileLink", path }]), "taken")
    assert.strictEqual(reason([{ _tag: "FileLink", path: `${path}a` }]), "too_large")
  })
})
