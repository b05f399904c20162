import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { makeFrameDecoder } from "../../../src/schema/acp/frame.ts"
import { limits } from "../../../src/schema/limits.ts"
import { collected } from "../../heap.ts"
import { bytesOf, cut, decode, decodeChunks, gist, gists, lines, notification, request, response } from "./lines.ts"

const limit = 64
const filler = "x".repeat(limit)
const read = (line: string, chunkSizes: ReadonlyArray<number> = [1_000_000]) => {
  const decoded = decodeChunks(cut(bytesOf(`${line}\n`), chunkSizes), limit)
  return { gists: gists(decoded), noise: decoded.noise.lines }
}
const oversized = (kind: string, id?: unknown, method?: string) => ({
  gists: [{ oversized: kind, id, method }],
  noise: 0
})

/** Every test line is longer than the limit by its filler. */
const cases = (table: Readonly<Record<string, ReturnType<typeof oversized>>>) => {
  for (const [line, expected] of Object.entries(table)) {
    const whole = line.replaceAll("FILL", filler)
    for (const sizes of [[1_000_000], [1], [7, 1, 30], [limit + 1]]) expect(read(whole, sizes)).toStrictEqual(expected)
  }
}

describe("a line at the frame limit", () => {
  const sent = JSON.stringify(notification("漢字"))
  const size = bytesOf(sent).length

  it("is a frame, with either line end, in any chunks", () => {
    for (const end of ["\n", "\r\n", "", "\r"]) {
      for (const sizes of [[1000], [1], [size], [size + 1], [size, 1, 1]]) {
        const decoded = decodeChunks(cut(bytesOf(sent + end), sizes), size)
        expect(decoded.frames.map((frame) => [frame._tag, frame.bytes])).toStrictEqual([["Notification", size]])
      }
    }
  })

  it("is oversized one byte past it, and the next line is read", () => {
    for (const end of ["\n", "\r\n"]) {
      for (const sizes of [[1000], [1], [size], [size + 1], [size, 1, 1]]) {
        const decoded = decodeChunks(cut(bytesOf(`${sent} ${end}${lines(response(0, 1))}`), sizes), size)
        expect(decoded.frames.map((frame) => [frame._tag, frame.bytes])).toStrictEqual([
          ["Oversized", size + 1],
          ["Response", JSON.stringify(response(0, 1)).length]
        ])
      }
    }
  })

  it("is 64 MiB by default", () => {
    const empty = bytesOf(lines(notification("")))
    for (const [length, tag] of [
      [limits.frameBytesMax, "Notification"],
      [limits.frameBytesMax + 1, "Oversized"]
    ] as const) {
      const line = new Uint8Array(length + 1).fill(0x78)
      line.set(empty.subarray(0, -3))
      line.set(empty.subarray(-3), length - 2)
      const { frames } = decode(line)
      expect(frames.map((frame) => [frame._tag, frame.bytes])).toStrictEqual([[tag, length]])
    }
  })
})

describe("an oversized line", () => {
  it("is told by its keys, wherever they stand", () => {
    cases({
      '{"jsonrpc":"2.0","method":"m","params":"FILL"}': oversized("notification", undefined, "m"),
      '{"params":"FILL","method":"m","jsonrpc":"2.0"}': oversized("notification", undefined, "m"),
      '{"jsonrpc":"2.0","id":0,"method":"m","params":"FILL"}': oversized("request", 0, "m"),
      '{"params":["FILL"],"jsonrpc":"2.0","method":"m","id":"0"}': oversized("request", "0", "m"),
      '{"jsonrpc":"2.0","id":7,"result":{"text":"FILL"}}': oversized("response", 7),
      '{"result":{"text":"FILL"},"jsonrpc":"2.0","id":7}': oversized("response", 7),
      '{"jsonrpc":"2.0","error":{"code":1,"message":"FILL"},"id":null}': oversized("response", null)
    })
  })

  it("keeps the JSON type of its id, and answers an id that cannot be echoed under null", () => {
    for (const id of ["0", '"0"', '""', "null", "1.5", "-3", '"a\\"b"']) {
      expect(read(`{"jsonrpc":"2.0","id":${id},"method":"m","params":"${filler}"}`)).toStrictEqual(
        oversized("request", JSON.parse(id), "m")
      )
    }
    for (const id of ["true", "{}", '{"id":4}', "[1]", "9007199254740993"]) {
      expect(read(`{"jsonrpc":"2.0","id":${id},"method":"m","params":"${filler}"}`)).toStrictEqual(
        oversized("request", null, "m")
      )
    }
  })

  it("is not misled by what is nested or quoted", () => {
    cases({
      '{"jsonrpc":"2.0","method":"m","params":{"id":4,"result":{},"text":"FILL"}}': oversized(
        "notification",
        undefined,
        "m"
      ),
      '{"jsonrpc":"2.0","method":"m","params":[{"id":4},[["]}"]],"FILL"]}': oversized("notification", undefined, "m"),
      '{"jsonrpc":"2.0","method":"m","params":"\\",\\"id\\":4,\\"x\\":{FILL"}': oversized(
        "notification",
        undefined,
        "m"
      ),
      '{"jsonrpc":"2.0","method":"m","params":"FILL\\\\","id":5}': oversized("request", 5, "m"),
      '{"jsonrpc":"2.0","method":"m","params":{"}":"]","\\\\":"FILL"},"id":5}': oversized("request", 5, "m"),
      '{"jsonrpc":"2.0","method":"a","x":"FILL","method":"b"}': oversized("notification", undefined, "b"),
      '{"jsonrpc":"2.0","\\u006dethod":"m","\\u0069d":6,"params":"FILL"}': oversized("request", 6, "m"),
      ' {"x":1}FILLFILL': { gists: [], noise: 1 }
    })
  })

  it("takes white space between its tokens", () => {
    cases({
      '{ "jsonrpc" : "2.0" ,\t"id" : 3 , "method" : "m" , "params" : [ "FILL" ] } \t': oversized("request", 3, "m")
    })
  })

  it("may be a response when it cannot be told what it was", () => {
    cases({
      // Both a method and a result.
      '{"jsonrpc":"2.0","id":1,"method":"m","result":"FILL"}': oversized("response", 1, "m"),
      // No key but the version.
      '{"jsonrpc":"2.0","x":"FILL"}': oversized("response"),
      // Broken off, or something after its end.
      '{"jsonrpc":"2.0","method":"m","params":"FILL': oversized("response", undefined, "m"),
      '{"jsonrpc":"2.0","method":"m","params":{"a":"FILL"': oversized("response", undefined, "m"),
      '{"jsonrpc":"2.0","method":"m","params":"FILL"}}': oversized("response", undefined, "m"),
      '{"jsonrpc":"2.0","method":"m" "params":"FILL"}': oversized("response", undefined, "m"),
      '{"id":1,"result":"FILL': oversized("response", 1)
    })
  })

  it("may be a response when its id is too long to note, and is a request one byte before", () => {
    const atBound = "i".repeat(limits.notedValueBytesMax - 2)
    expect(read(`{"jsonrpc":"2.0","id":"${atBound}","method":"m"}`)).toStrictEqual(oversized("request", atBound, "m"))
    expect(read(`{"jsonrpc":"2.0","id":"${atBound}i","method":"m"}`)).toStrictEqual(
      oversized("response", undefined, "m")
    )
    expect(read(`{"jsonrpc":"2.0","id":1,"method":"${atBound}i"}`)).toStrictEqual(oversized("request", 1))
  })

  it("is noise when a shorter one would have been", () => {
    cases({
      "Migrating FILL": { gists: [], noise: 1 },
      '[{"jsonrpc":"2.0","id":1,"method":"m","params":"FILL"}]': { gists: [], noise: 1 },
      '{"level":"info","id":0,"method":"m","dump":"FILL"}': { gists: [], noise: 1 },
      '{"level":"info","id":0,"result":"FILL"}': { gists: [], noise: 1 },
      "{ not json FILL": { gists: [], noise: 1 }
    })
  })

  it("is read behind a prefix of marks", () => {
    cases({
      '\ufeff\u001b[0m{"jsonrpc":"2.0","id":1,"method":"m","params":"FILL"}': oversized("request", 1, "m")
    })
  })

  it("counts as truncated noise when the output ends in it, unless its object is closed", () => {
    const line = `{"jsonrpc":"2.0","id":1,"method":"m","params":"${filler}"}`
    const whole = decode(line, limit)
    expect(gists(whole)).toStrictEqual([{ oversized: "request", id: 1, method: "m" }])
    const cutOff = decode(line.slice(0, -1), limit)
    expect(cutOff.frames).toStrictEqual([])
    expect(cutOff.noise).toMatchObject({ lines: 1, truncatedLines: 1, bytes: line.length - 1 })
  })

  it("does not touch the lines around it", () => {
    const sent = [notification(1), notification(filler), notification(2), request(1, filler), response(2, 3)]
    expect(gists(decode(lines(...sent), limit))).toStrictEqual([
      { notification: "session/update", params: 1 },
      { oversized: "notification", id: undefined, method: "session/update" },
      { notification: "session/update", params: 2 },
      { oversized: "request", id: 1, method: "session/request_permission" },
      { id: 2, result: 3 }
    ])
  })

  it("is not kept in memory", () => {
    const frameBytesMax = 1024 * 1024
    const decoder = makeFrameDecoder({ frameBytesMax })
    const chunk = new Uint8Array(65_536).fill(0x78)
    decoder.push(bytesOf('{"jsonrpc":"2.0","id":9,"params":"'))
    const before = collected().arrayBuffers
    for (let index = 0; index < 1024; index += 1) decoder.push(chunk)
    expect(collected().arrayBuffers - before).toBeLessThan(frameBytesMax / 2)
    expect(decoder.push(bytesOf('","method":"m"}\n')).map(gist)).toStrictEqual([
      { oversized: "request", id: 9, method: "m" }
    ])
  })
})

describe("a line at the limits of shape", () => {
  const nested = (depth: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"m","params":${"[".repeat(depth)}${"]".repeat(depth)}}`
  const holding = (values: number) => `{"jsonrpc":"2.0","method":"m","params":[${"1,".repeat(values)}1]}`
  const told = (line: string) => decode(`${line}\n${lines(response(0, 1))}`).frames

  it("is a frame at the depth, and oversized one level past it", () => {
    expect(told(nested(limits.frameDepthMax - 1))[0]).toMatchObject({ _tag: "Request" })
    expect(told(nested(limits.frameDepthMax))).toMatchObject([
      { _tag: "Oversized", kind: "request", id: 1, method: "m", excess: "nesting" },
      { _tag: "Response" }
    ])
  })

  it("is a frame at the number of values, and oversized one past it", () => {
    // Beside the commas of the list: two brackets, two commas, and the first value.
    const most = limits.frameValuesMax - 5
    expect(told(holding(most))[0]).toMatchObject({ _tag: "Notification" })
    expect(told(holding(most + 1))).toMatchObject([
      { _tag: "Oversized", kind: "notification", method: "m", excess: "values" },
      { _tag: "Response" }
    ])
  })

  it("counts levels, not brackets, and counts on after a long string", () => {
    const wide = notification(Array.from({ length: 5000 }, () => [{}]))
    expect(told(JSON.stringify(wide))[0]).toMatchObject({ _tag: "Notification" })
    const deep = `{"jsonrpc":"2.0","method":"m","text":"${"x".repeat(500)}","params":${"[".repeat(600)}${"]".repeat(600)}}`
    expect(told(deep)[0]).toMatchObject({ _tag: "Oversized", excess: "nesting" })
  })

  it("counts nothing inside strings", () => {
    for (const text of [
      "[".repeat(5000),
      '"{\\'.repeat(5000),
      `${"\\".repeat(4999)}"${"[".repeat(5000)}`,
      ",".repeat(2_000_000)
    ]) {
      const sent = notification({ text, more: ["[", "\\", '"', "{".repeat(60), '\\"['.repeat(30)] })
      expect(told(JSON.stringify(sent))[0]).toMatchObject({ _tag: "Notification", raw: sent })
    }
  })

  const piece = Schema.Literals(['"', "\\", "[", "{", "]", "x", "漢", "x".repeat(47)])
  it.prop("is a frame whatever its strings hold", [Schema.NonEmptyArray(piece)], ([pieces]) => {
    const text = pieces.join("").repeat(600)
    expect(told(JSON.stringify(notification([text, text, "]"])))[0]).toMatchObject({ _tag: "Notification" })
  })

  it("is told without being parsed when it holds nothing but brackets", () => {
    expect(told(`{"jsonrpc":"2.0","id":1,"result":${"[".repeat(1_000_000)}`)).toMatchObject([
      { _tag: "Oversized", kind: "response", id: 1, excess: "nesting" },
      { _tag: "Response" }
    ])
    expect(told(`{"level":"info","dump":${"[".repeat(5000)}${"]".repeat(5000)}}`)).toMatchObject([{ _tag: "Response" }])
  })
})

describe("any object beyond the limit", () => {
  const piece = Schema.Literals([
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "id",
    '"id":1',
    "result",
    "漢",
    "\u0000"
  ])
  const text = Arbitrary.map(Arbitrary.schema(Schema.Array(piece)), (pieces) => pieces.join(""))
  const scalar = Schema.Union([Schema.Int, Schema.String, Schema.Null, Schema.Boolean])
  const value = Arbitrary.map(
    Arbitrary.all([
      text,
      Arbitrary.schema(scalar),
      Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })))
    ]),
    ([inside, plain, kind]): unknown => [plain, inside, { [inside]: plain, id: inside }, [inside, [plain]], {}][kind]
  )
  const key = Schema.Literals(["jsonrpc", "id", "method", "params", "result", "error", "other"])
  const entries = Arbitrary.array(Arbitrary.all([Arbitrary.schema(key), value, text]))
  const sizes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 })))

  it.prop(
    "is told as parsing would have told it",
    [entries, sizes, Schema.Boolean],
    ([fields, cuts, spaced]) => {
      const body = fields.map(([name, content, inside]) => {
        const sent = name === "jsonrpc" ? "2.0" : name === "method" ? `m${inside}` : content
        return spaced
          ? ` ${JSON.stringify(name)} : ${JSON.stringify(sent)} `
          : `${JSON.stringify(name)}:${JSON.stringify(sent)}`
      })
      const line = bytesOf(`{${body.join(",")}}\n`)
      const chunks = cut(line, cuts.length === 0 ? [line.length] : cuts)
      const parsed = decodeChunks(chunks).frames[0]
      const told = decodeChunks(chunks, 1).frames[0]
      if (parsed === undefined) {
        expect(told).toBeUndefined()
        return
      }
      expect(told).toMatchObject({ _tag: "Oversized", bytes: parsed.bytes })
      if (told?._tag !== "Oversized") return
      const answers =
        Object.hasOwn(JSON.parse(new TextDecoder().decode(line)), "result") ||
        Object.hasOwn(JSON.parse(new TextDecoder().decode(line)), "error")
      if (answers) expect(told.kind).toBe("response")
      else if (parsed._tag === "Notification")
        expect(told).toMatchObject({ kind: "notification", method: parsed.method })
      else if (parsed._tag === "Request")
        expect(told).toMatchObject({ kind: "request", method: parsed.method, id: parsed.id })
      else if (parsed._tag === "Invalid" && parsed.id !== undefined)
        expect(told).toMatchObject({ kind: "request", id: parsed.id })
      else expect(told.kind).toBe("response")
    },
    { arbitrary: { runs: 500 } }
  )
})
