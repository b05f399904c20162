import { describe, expect, it } from "@effect/vitest"
import { readEnvelope } from "../../../src/schema/acp/envelope.ts"
import { decode, gists, lines } from "./lines.ts"

const read = (line: string) => {
  const decoded = decode(`${line}\n`)
  return { gists: gists(decoded), noise: decoded.noise.lines }
}
const frame = (line: string) => read(line).gists[0]

describe("readEnvelope", () => {
  it("keeps the JSON type of an id", () => {
    for (const id of ["0", '"0"', '""', "null", "1.5", "-7", "9007199254740991", '"a\\u0000b"']) {
      const line = `{"jsonrpc":"2.0","id":${id},"method":"m","params":{}}`
      expect(frame(line)).toStrictEqual({ request: "m", id: JSON.parse(id), params: {} })
      expect(frame(`{"jsonrpc":"2.0","id":${id},"result":{}}`)).toStrictEqual({ id: JSON.parse(id), result: {} })
    }
  })

  it("has a request whose id cannot be echoed answered under null", () => {
    for (const id of ["true", "{}", "[]", "[1]", "9007199254740993", "1e400"]) {
      const line = `{"jsonrpc":"2.0","id":${id},"method":"m"}`
      expect(frame(line)).toStrictEqual({ invalid: "id", answer: null, responseTo: undefined })
    }
  })

  it("has a request with a method of the wrong type answered under its own id", () => {
    expect(frame('{"jsonrpc":"2.0","id":0,"method":5}')).toStrictEqual({
      invalid: "method",
      answer: 0,
      responseTo: undefined
    })
    expect(frame('{"jsonrpc":"2.0","id":null,"method":null}')).toStrictEqual({
      invalid: "method",
      answer: null,
      responseTo: undefined
    })
  })

  it("has no notification answered, whatever is wrong with it", () => {
    expect(frame('{"jsonrpc":"2.0","method":5}')).toStrictEqual({
      invalid: "method",
      answer: undefined,
      responseTo: undefined
    })
  })

  it("leaves params to whoever handles the method", () => {
    expect(frame('{"jsonrpc":"2.0","id":1,"method":"m","params":5}')).toStrictEqual({ request: "m", id: 1, params: 5 })
    expect(frame('{"jsonrpc":"2.0","method":"m"}')).toStrictEqual({ notification: "m", params: undefined })
  })

  it("never takes a log line for a frame", () => {
    for (const line of [
      '{"level":"info","id":0}',
      '{"level":"info","id":0,"result":"ok"}',
      '{"id":0,"result":{}}',
      '{"id":0,"error":{"code":1,"message":"x"}}',
      '{"level":"info","id":7,"method":"GET","path":"/"}',
      '{"method":"session/update","params":{}}',
      "{}"
    ]) {
      expect(read(line)).toStrictEqual({ gists: [], noise: 1 })
    }
  })

  it("has a request without the right version answered once, and no response settled by one", () => {
    const asked = { invalid: "version", answer: 3, responseTo: undefined }
    expect(frame('{"id":3,"method":"session/request_permission","params":{}}')).toStrictEqual(asked)
    expect(frame('{"jsonrpc":"1.0","id":3,"method":"m"}')).toStrictEqual(asked)
    expect(frame('{"jsonrpc":2,"id":3,"result":{}}')).toStrictEqual({ ...asked, answer: undefined })
  })

  it("reads results and errors", () => {
    expect(frame('{"jsonrpc":"2.0","id":1,"result":null}')).toStrictEqual({ id: 1, result: null })
    expect(frame('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":[1]}}')).toStrictEqual({
      id: 1,
      error: { code: -32000, message: "no", data: [1] }
    })
  })

  it("takes a null beside its counterpart as absent", () => {
    expect(frame('{"jsonrpc":"2.0","id":1,"result":{},"error":null}')).toStrictEqual({ id: 1, result: {} })
    expect(frame('{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}')).toStrictEqual({
      id: 1,
      error: { code: 1, message: "m" }
    })
  })

  it("names the request that a malformed response would have settled", () => {
    const cases = {
      '{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":"m"}}': "outcome",
      '{"jsonrpc":"2.0","id":4,"error":"boom"}': "error",
      '{"jsonrpc":"2.0","id":4,"error":{"message":"m"}}': "error",
      '{"jsonrpc":"2.0","id":4,"error":null}': "error",
      '{"jsonrpc":"2.0","id":4}': "empty"
    }
    for (const [line, reason] of Object.entries(cases)) {
      expect(frame(line)).toStrictEqual({ invalid: reason, answer: undefined, responseTo: 4 })
    }
  })

  it("settles nothing by a response without a usable id", () => {
    for (const line of [
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}',
      '{"jsonrpc":"2.0","id":true,"result":1}'
    ]) {
      expect(frame(line)).toStrictEqual({ invalid: "id", answer: undefined, responseTo: undefined })
    }
  })

  it("keeps the whole line raw", () => {
    const sent = { jsonrpc: "2.0", method: "m", params: { a: [1] }, emittedAtMs: 5 }
    expect(decode(lines(sent)).frames[0]).toMatchObject({ raw: sent, bytes: JSON.stringify(sent).length })
  })

  it("is not misled by keys of the prototype", () => {
    expect(readEnvelope(JSON.parse('{"__proto__":{"jsonrpc":"2.0","method":"m"}}'), 1)).toBeUndefined()
  })
})
