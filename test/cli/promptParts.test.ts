import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { mcpServersOf } from "../../src/cli/mcpOption.ts"
import { promptParts } from "../../src/cli/promptParts.ts"
import { limits } from "../../src/schema/limits.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "greenroom-parts-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

type Files = Partial<Record<"images" | "files" | "embeds", ReadonlyArray<string>>>
const none = { images: [], files: [], embeds: [] }
const parts = (files: Files) => Effect.runPromise(promptParts("do it", { ...none, ...files }))
const refusal = (files: Files) => Effect.runPromise(Effect.flip(promptParts("do it", { ...none, ...files })))

describe("the parts of a prompt", () => {
  it("begin with the text", async () => {
    expect(await parts({})).toEqual([{ _tag: "Text", text: "do it" }])
  })

  it("tell an image by its first bytes", async () => {
    const images = {
      "image/png": "\u0089PNG\r\n\u001a\nrest",
      "image/jpeg": "\u00ff\u00d8\u00ffrest",
      "image/gif": "GIF89arest",
      "image/webp": "RIFF1234WEBPrest"
    }
    for (const [mimeType, bytes] of Object.entries(images)) {
      const content = Buffer.from(bytes, "latin1")
      const [, image] = await parts({ images: [file("image.bin", content)] })
      expect(image).toEqual({ _tag: "Image", mimeType, data: content.toString("base64") })
    }
    expect(await refusal({ images: [file("image.png", "no image")] })).toMatchObject({ reason: "part_invalid" })
  })

  it("name a file by its absolute path, without reading it", async () => {
    const path = file("linked.txt", "x")
    expect((await parts({ files: [path] }))[1]).toEqual({ _tag: "FileLink", path })
  })

  it("embed text as text, and everything else as bytes", async () => {
    const text = file("text.txt", "\ufeffé\n")
    expect((await parts({ embeds: [text] }))[1]).toEqual({ _tag: "EmbeddedText", path: text, text: "\ufeffé\n" })
    for (const content of [Buffer.from([0x61, 0x00]), Buffer.from([0xff, 0xfe])]) {
      const path = file("bytes.bin", content)
      expect((await parts({ embeds: [path] }))[1]).toEqual({
        _tag: "EmbeddedBytes",
        path,
        data: content.toString("base64")
      })
    }
  })

  it("are refused with the option and the path when a file is not there or no file", async () => {
    mkdirSync(join(folder, "folder"))
    for (const [option, name] of [
      ["images", "missing"],
      ["files", "missing"],
      ["embeds", "folder"]
    ] as const) {
      const error = await refusal({ [option]: [join(folder, name)] })
      expect(error).toMatchObject({ reason: "file_unreadable" })
      expect(error.detail).toContain(`--${option.slice(0, -1)} ${folder}/${name}`)
    }
  })

  it("are refused one byte past the bound of a file, unread", async () => {
    const path = file("large.bin", "")
    truncateSync(path, limits.promptFileBytesMax)
    expect(await parts({ embeds: [path] })).toHaveLength(2)
    truncateSync(path, limits.promptFileBytesMax + 1)
    expect(await refusal({ embeds: [path] })).toMatchObject({ reason: "too_large" })
    expect(await parts({ files: [path] })).toHaveLength(2)
  })
})

describe("--mcp", () => {
  const servers = (...values: ReadonlyArray<string>) => Effect.runPromise(mcpServersOf(values))

  it("takes one server or a list, as JSON or in a file, in order", async () => {
    const list = file("mcp.json", '[{"name":"b"},{"name":"c"}]')
    expect(await servers(' {"name":"a"}', list, '[{"name":"d"}]')).toEqual([
      { name: "a" },
      { name: "b" },
      { name: "c" },
      { name: "d" }
    ])
    expect(await servers()).toEqual([])
  })

  it("refuses what is neither, without repeating a value", async () => {
    const broken = file("broken.json", '{"secret')
    for (const value of ['{"token":"hunter2"', broken, join(folder, "missing.json")]) {
      const error = await Effect.runPromise(Effect.flip(mcpServersOf([value])))
      expect(error).toMatchObject({ _tag: "UsageInvalid", option: "--mcp" })
      expect(error.reason).not.toMatch(/hunter2|secret/)
    }
  })
})
