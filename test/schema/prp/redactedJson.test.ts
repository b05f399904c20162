import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { limits } from "../../../src/schema/limits.ts"
import { redactedJson } from "../../../src/schema/prp/redactedJson.ts"

const secret = "q7Zp2mXw91LkTr55"
const key = `-----BEGIN RSA PRIVATE KEY-----\nMIIE\n${secret}\n-----END RSA PRIVATE KEY-----`

describe("JSON without secrets", () => {
  const hidden: ReadonlyArray<unknown> = [
    { headers: { Authorization: `Bearer ${secret}` } },
    { headers: [`Authorization: Basic ${secret}`] },
    { command: `curl -H "authorization: ${secret}" https://host` },
    { command: `curl -u me:${secret} https://host` },
    { command: `GITHUB_TOKEN=${secret} gh pr list` },
    { command: `export AWS_SECRET_ACCESS_KEY=${secret}\nnext` },
    { command: ["deploy", "--api-key", secret] },
    { args: ["-H", "x", "bearer", secret] },
    { env: { OPENAI_API_KEY: secret } },
    { env: [{ name: "OPENAI_API_KEY", value: secret }] },
    { env: [{ value: secret, name: "OPENAI_API_KEY" }] },
    { env: [{ key: "DB_PASSWORD", value: secret }] },
    { auth: secret },
    { password: [secret, { deeper: secret }] },
    { secret: 9_127_712_998, [`token=${secret}`]: 1 },
    { url: `https://user:${secret}@host/`, query: `https://host/?access_token=${secret}` },
    { file_text: key },
    { file_text: `${key.slice(0, 60)}` },
    `sk-ant-${secret}`,
    [[`ghp_${secret}${secret}`]],
    { content: JSON.stringify({ password: secret }) }
  ]
  it.for(hidden)("hides the secret of %j", (value) => {
    const { text } = redactedJson(value)
    expect(text).not.toContain(secret)
    expect(text).not.toContain("9127712998")
    expect(text).toContain("[REDACTED]")
    expect(() => JSON.parse(text)).not.toThrow()
  })

  const shown: ReadonlyArray<unknown> = [
    { command: "npm test -- --token-count", max_tokens: 4096, cwd: "/workspace", timeout: 60_000, force: true },
    { path: "/workspace/a b.txt", content: "line 1\nline 2\n", old: null, list: [1, "é😀", { a: [] }] },
    { password: null, token: false },
    "",
    0,
    null
  ]
  it.for(shown)("leaves %j as it is", (value) => {
    expect(redactedJson(value)).toStrictEqual({ text: JSON.stringify(value), isWhole: true })
  })

  it("does not show half a secret at a cut", () => {
    for (let before = 950; before < 1020; before++) {
      const text = `${"w ".repeat(before / 2)}ghp_${secret}${secret} ${"w ".repeat(3000)}`
      expect(redactedJson({ text }).text).not.toContain(secret.slice(0, 8))
    }
    for (let before = 3960; before < 4010; before++) {
      const removed = `API_TOKEN=${"x".repeat(before - 20)} ghp_${secret}${secret} ${"w ".repeat(3000)}`
      expect(redactedJson({ removed }).text).not.toContain(secret.slice(0, 8))
    }
  })

  it("shows a text up to its bound and the others beside it", () => {
    const max = limits.toolInputTextCharactersMax
    const text = "😀 ".repeat(max / 2)
    expect(redactedJson([text])).toStrictEqual({ text: JSON.stringify([text]), isWhole: true })
    expect(redactedJson([`${text}x`, "beside"])).toStrictEqual({
      text: JSON.stringify([`${text}…`, "beside"]),
      isWhole: false
    })
  })

  it("shows entries up to a bound", () => {
    const list = Array.from({ length: limits.toolInputEntriesMax }, (_, index) => index)
    const object = Object.fromEntries(list.map((index) => [`k${index}`, index]))
    expect(redactedJson(list)).toStrictEqual({ text: JSON.stringify(list), isWhole: true })
    expect(redactedJson(object)).toStrictEqual({ text: JSON.stringify(object), isWhole: true })
    expect(redactedJson([...list, 7])).toStrictEqual({ text: JSON.stringify([...list, "…"]), isWhole: false })
    expect(redactedJson({ ...object, z: 7 })).toStrictEqual({
      text: JSON.stringify({ ...object, "…": "…" }),
      isWhole: false
    })
  })

  it("goes as deep as its bound", () => {
    const nested = (levels: number): unknown => (levels === 0 ? "in" : [nested(levels - 1)])
    const most = nested(limits.toolInputDepthMax)
    expect(redactedJson(most)).toStrictEqual({ text: JSON.stringify(most), isWhole: true })
    expect(redactedJson([most]).isWhole).toBe(false)
  })

  it("has at most so many characters, and tells what is cut", () => {
    const texts = (count: number) =>
      Array.from({ length: count }, () => "w ".repeat(limits.toolInputTextCharactersMax / 2))
    const most = redactedJson(texts(3))
    expect(most.isWhole).toBe(true)
    const { isWhole, text } = redactedJson(texts(5))
    expect(isWhole).toBe(false)
    expect(text.length).toBe(limits.toolInputCharactersMax)
  })

  const anything = Arbitrary.schema(Schema.Json)
  it.prop("is bounded, and JSON where it is whole", [anything], ([value]) => {
    const { isWhole, text } = redactedJson(value)
    expect(text.length).toBeLessThanOrEqual(2 * limits.toolInputCharactersMax)
    if (isWhole) expect(() => JSON.parse(text)).not.toThrow()
  })
})
