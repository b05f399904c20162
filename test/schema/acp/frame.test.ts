import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { encodeFrame, makeFrameDecoder } from "../../../src/schema/acp/frame.ts"
import { FrameTooLarge } from "../../../src/schema/errors.ts"
import { limits } from "../../../src/schema/limits.ts"
import { collected, heapUsed } from "../../heap.ts"
import { bytesOf, cut, decode, decodeChunks, gist, gists, lines, notification, request, response } from "./lines.ts"

describe("makeFrameDecoder", () => {
  it("keeps updates before the response that came in the same chunk", () => {
    const updates = Array.from({ length: 500 }, (_, index) => notification({ index }))
    const sent = [...updates, response(3, { stopReason: "end_turn" }), notification({ late: true })]
    expect(gists(decode(lines(...sent)))).toStrictEqual([
      ...updates.map((_, index) => ({ notification: "session/update", params: { index } })),
      { id: 3, result: { stopReason: "end_turn" } },
      { notification: "session/update", params: { late: true } }
    ])
  })

  it("cuts no character, wherever the bytes are cut", () => {
    for (const text of ["é", "漢", "😀", "e\u0301", "\u2028", "👩‍👩‍👧"]) {
      const sent = lines(notification({ text }), notification({ text: `${text}${text}` }))
      const bytes = bytesOf(sent)
      for (let at = 1; at < bytes.length; at += 1) {
        const decoded = decodeChunks([bytes.slice(0, at), bytes.slice(at)])
        expect(decoded.frames.map((frame) => "params" in frame && frame.params)).toStrictEqual([
          { text },
          { text: `${text}${text}` }
        ])
        expect(decoded.noise).toMatchObject({ lines: 0, invalidUtf8Lines: 0 })
      }
    }
  })

  it("gives the size of a line without its end, in bytes", () => {
    const sent = notification({ text: "漢字" })
    const size = bytesOf(JSON.stringify(sent)).length
    for (const output of [lines(sent, sent), lines(sent, sent).replaceAll("\n", "\r\n"), JSON.stringify(sent)]) {
      for (const frame of decode(output).frames) expect(frame.bytes).toBe(size)
    }
  })

  it("takes LF and CRLF, skips blank lines, and takes a lone CR for no line end", () => {
    const sent = JSON.stringify(notification(1))
    const decoded = decode(`\n\r\n${sent}\r\n  \t\r\n${sent}\n\n${sent}\r${sent}\n`)
    expect(decoded.frames).toHaveLength(2)
    expect(decoded.noise.lines).toBe(1)
  })

  it("skips byte order marks and ANSI sequences before a frame", () => {
    const sent = JSON.stringify(notification(1))
    const prefixes = [
      "\ufeff",
      "\u001b[0m",
      "\u001b[?25l\u001b[2K\u001b[1;32m",
      "\ufeff\u001b[m\ufeff",
      "\u001b]0;title é\u0007",
      "\u001b]8;;http://localhost\u001b\\",
      "\u001b(B",
      "\u001b7",
      "\u001bc"
    ]
    for (const prefix of prefixes) {
      const bytes = bytesOf(`${prefix}${sent}\n`)
      for (let at = 0; at < bytes.length; at += 1) {
        const decoded = decodeChunks([bytes.slice(0, at), bytes.slice(at)])
        expect(gists(decoded)).toStrictEqual([{ notification: "session/update", params: 1 }])
      }
    }
  })

  it("takes a prefix that is no whole mark for noise", () => {
    const sent = JSON.stringify(notification(1))
    for (const prefix of [
      "\u001b",
      "\u001b[",
      "\u001b[1;",
      "\u001b]0;title",
      "\u001b[3\u001b",
      " ",
      "\t",
      "x\u001b[0m",
      "\u0000",
      "> "
    ]) {
      const decoded = decode(`${prefix}${sent}\n`)
      expect(decoded.frames).toStrictEqual([])
      expect(decoded.noise.lines).toBe(1)
    }
  })

  it("never looks for a frame in the middle of a line, and reads the next one", () => {
    const sent = JSON.stringify(response(0, {}))
    const decoded = decode(
      `Loaded cached credentials. ${sent}\n${sent}${sent}\n${sent} done\n[${sent}]\n"${sent}"\n${sent}\n`
    )
    expect(gists(decoded)).toStrictEqual([{ id: 0, result: {} }])
    expect(decoded.noise.lines).toBe(5)
  })

  it("replaces bytes that are not UTF-8 and counts their lines, and only those", () => {
    const [before, after] = JSON.stringify(notification({ text: "|" })).split("|")
    const line = (...inside: ReadonlyArray<number>) =>
      Uint8Array.from([...bytesOf(before ?? ""), ...inside, ...bytesOf(`${after}\n`)])
    const decoded = decodeChunks([line(0xff), line(0xe2, 0x82), line(0xc3), line(0xef, 0xbf, 0xbd), line(0x41)])
    expect(decoded.frames.map((frame) => "params" in frame && frame.params)).toStrictEqual(
      ["\ufffd", "\ufffd", "\ufffd", "\ufffd", "A"].map((text) => ({ text }))
    )
    expect(decoded.noise).toMatchObject({ lines: 0, invalidUtf8Lines: 3 })
  })

  it("counts all noise, keeps a few samples, and holds none of it", () => {
    const decoder = makeFrameDecoder()
    const chunk = bytesOf(
      lines(...Array.from({ length: 1000 }, (_, index) => `[info] migrating: ${index} ${"漢".repeat(300)}`))
    )
    const before = heapUsed()
    for (let round = 0; round < 200; round += 1) expect(decoder.push(chunk)).toHaveLength(0)
    expect(heapUsed() - before).toBeLessThan(4 * 1024 * 1024)
    expect(decoder.noise.lines).toBe(200_000)
    expect(decoder.noise.bytes).toBe(200 * (chunk.length - 1000))
    expect(decoder.noise.samples).toHaveLength(limits.noiseSamplesMax)
    for (const sample of decoder.noise.samples) {
      expect(bytesOf(sample).length).toBeLessThanOrEqual(limits.noiseSampleBytesMax)
      expect(sample).toMatch(/^\[info\] migrating: \d 漢+$/)
    }
    expect(gists({ frames: decoder.push(bytesOf(lines(response(0, {})))), noise: decoder.noise })).toStrictEqual([
      { id: 0, result: {} }
    ])
  })

  it("keeps a sample of exactly the bound whole, and cuts one past it", () => {
    const atBound = "x".repeat(limits.noiseSampleBytesMax)
    expect(decode(lines(atBound, `${atBound}y`)).noise.samples).toStrictEqual([atBound, atBound])
  })

  it("does not keep a long line alive for its sample", () => {
    const decoder = makeFrameDecoder()
    const before = heapUsed()
    for (let round = 0; round < limits.noiseSamplesMax; round += 1) {
      decoder.push(bytesOf(`{"level":"info","dump":"${"x".repeat(4 * 1024 * 1024)}"}\n`))
    }
    expect(decoder.noise.samples).toHaveLength(limits.noiseSamplesMax)
    expect(heapUsed() - before).toBeLessThan(4 * 1024 * 1024)
  })

  it("does not keep the chunks it was given", () => {
    const decoder = makeFrameDecoder()
    const [first, second] = cut(bytesOf(lines(notification({ text: "abc" }))), [20, 1000])
    decoder.push(first ?? new Uint8Array())
    first?.fill(0)
    expect(decoder.push(second ?? new Uint8Array()).map(gist)).toStrictEqual([
      { notification: "session/update", params: { text: "abc" } }
    ])
  })

  it("gives the memory of a long line back", () => {
    const decoder = makeFrameDecoder()
    const before = collected().arrayBuffers
    for (const chunk of cut(bytesOf(lines(notification("x".repeat(16 * 1024 * 1024)))), [65_536])) decoder.push(chunk)
    expect(collected().arrayBuffers - before).toBeLessThan(1024 * 1024)
  })

  it("takes the last line without its end if it is a complete frame, else counts it as truncated", () => {
    const sent = JSON.stringify(response(0, { text: "漢" }))
    expect(gists(decode(sent))).toStrictEqual([{ id: 0, result: { text: "漢" } }])
    for (let length = 1; length < bytesOf(sent).length; length += 1) {
      const decoded = decode(bytesOf(sent).slice(0, length))
      expect(decoded.frames).toStrictEqual([])
      expect(decoded.noise).toMatchObject({ lines: 1, truncatedLines: 1, bytes: length })
    }
    expect(decode("").noise).toMatchObject({ lines: 0, truncatedLines: 0 })
    expect(decode("\r").noise).toMatchObject({ lines: 0, truncatedLines: 0 })
    expect(decode(`${sent}\nbye`).noise).toMatchObject({ lines: 1, truncatedLines: 1, samples: ["bye"] })
    expect(decode(`${sent}\nbye\n`).noise).toMatchObject({ lines: 1, truncatedLines: 0, samples: ["bye"] })
  })

  it("reads a frame larger than the piece it decodes at once, in one chunk or many", () => {
    const text = "漢".repeat(limits.decodePieceBytesMax)
    const bytes = bytesOf(lines(notification(1), notification({ text }), notification(2)))
    for (const size of [bytes.length, 65_536, 65_537, limits.decodePieceBytesMax]) {
      expect(decodeChunks(cut(bytes, [size])).frames.map((frame) => "params" in frame && frame.params)).toStrictEqual([
        1,
        { text },
        2
      ])
    }
  })
})

describe("any sequence of lines in any chunks", () => {
  const piece = Schema.Literals([
    "a",
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\r",
    "\t",
    " ",
    "id",
    "method",
    "é",
    "漢",
    "😀",
    "\u2028",
    "\ud800",
    "\u0000",
    "\u001b[0m",
    "\ufeff"
  ])
  const text = Arbitrary.map(Arbitrary.schema(Schema.Array(piece)), (pieces) => pieces.join(""))
  const id = Schema.Union([Schema.Int, Schema.Literals(["", "0", "a\n"]), Schema.Null])
  const line = Arbitrary.map(
    Arbitrary.all([text, Arbitrary.schema(id), Arbitrary.schema(Schema.Literals([0, 1, 2, 3, 4, 5, 6]))]),
    ([inside, someId, kind]): { readonly line: string; readonly frame?: object } => {
      switch (kind) {
        case 0:
          return {
            line: JSON.stringify(notification({ inside })),
            frame: { notification: "session/update", params: { inside } }
          }
        case 1:
          return {
            line: JSON.stringify(request(someId, inside, "m")),
            frame: { request: "m", id: someId, params: inside }
          }
        case 2:
          return { line: JSON.stringify(response(someId, [inside])), frame: { id: someId, result: [inside] } }
        case 3:
          return {
            line: `\u001b[1m${JSON.stringify(response(someId, inside))}\r`,
            frame: { id: someId, result: inside }
          }
        case 4:
          return { line: `noise ${inside.replaceAll("\n", "")}` }
        case 5:
          return { line: JSON.stringify({ level: "info", id: someId, inside }) }
        case 6:
          return { line: "" }
      }
    }
  )
  const sizes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })))

  it.prop(
    "decodes to the same frames in the same order",
    [Arbitrary.array(line), sizes],
    ([sent, cuts]) => {
      const bytes = bytesOf(lines(...sent.map((item) => item.line)))
      const decoded = decodeChunks(cut(bytes, cuts.length === 0 ? [bytes.length] : cuts))
      const expected = sent.flatMap((item) =>
        item.frame === undefined ? [] : [JSON.parse(JSON.stringify(item.frame))]
      )
      expect(gists(decoded)).toStrictEqual(expected)
      expect(decoded.noise.lines).toBe(sent.filter((item) => item.frame === undefined && item.line !== "").length)
      expect(decoded.noise.truncatedLines).toBe(0)
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("encodeFrame", () => {
  it("makes one line that decodes to the same value", () => {
    const sent = request("a\nb", { text: "line\nbreak \u2028 漢 😀 \ud800" })
    const bytes = encodeFrame(sent)
    expect(bytes).toBeInstanceOf(Uint8Array)
    if (bytes instanceof FrameTooLarge) return
    expect(bytes.indexOf(0x0a)).toBe(bytes.length - 1)
    expect(decode(bytes).frames[0]).toMatchObject({ raw: sent, bytes: bytes.length - 1 })
  })

  it("takes a frame at the bound and refuses one past it", () => {
    const sent = notification("漢")
    const size = bytesOf(JSON.stringify(sent)).length
    expect(encodeFrame(sent, size)).toStrictEqual(bytesOf(lines(sent)))
    expect(encodeFrame(sent, size - 1)).toStrictEqual(new FrameTooLarge({ bytes: size, limitBytes: size - 1 }))
  })
})
