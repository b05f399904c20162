import { describe, expect, it } from "vitest"
import { limits } from "../../src/schema/limits.ts"
import { isSensitiveName, redactLine, sensitiveValues } from "../../src/schema/redaction.ts"

const secret = "q7Zp2mXw91LkTr55"

describe("redaction", () => {
  it.each([
    `Authorization: Bearer ${secret}`,
    `curl -H 'authorization: token ${secret}'`,
    `sent bearer ${secret} to host`,
    `Cookie: a=${secret}; b=${secret}`,
    `key sk-ant-api03-${secret}`,
    `ghp_${secret}${secret}`,
    `github_pat_${secret}`,
    `AKIA${secret.toUpperCase()}`,
    `eyJhbGciOiJIUzI1NiJ9.${secret}.${secret}`,
    `OPENAI_API_KEY=${secret}`,
    `{"apiKey":"${secret}"}`,
    `{"password": "two words ${secret}"}`,
    `"{\\"access_token\\":\\"${secret}\\"}"`,
    `client_secret = '${secret}'`,
    `run --api-key ${secret} now`,
    `https://user:${secret}@host/path`,
    `https://${secret}@host/path`,
    `https://host/path?sig=${secret}&x=1`,
    `https://host/path?access_token=${secret}`,
    `${secret}${secret}${secret}==`
  ])("removes the secret of %s", (line) => {
    const shown = redactLine(line)
    expect(shown).not.toContain(secret)
    expect(shown).not.toContain(secret.toUpperCase())
    expect(shown).toContain("[REDACTED]")
  })

  it.each([
    "used 512 tokens, max_tokens=4096, inputTokens: 7",
    "Error: connect ECONNREFUSED 127.0.0.1:4100",
    "    at Module._compile (node:internal/modules/cjs/loader:1554:14)",
    "https://example.com/docs?page=2",
    "git@github.com:owner/name.git"
  ])("leaves %s as it is", (line) => {
    expect(redactLine(line)).toBe(line)
  })

  it("removes given values wherever they stand, the longest first", () => {
    expect(redactLine("a hunter2hunter2 b hunter2 c", ["hunter2", "hunter2hunter2"])).toBe(
      "a [REDACTED] b [REDACTED] c"
    )
  })

  it("removes the lines of a given value of several lines", () => {
    expect(redactLine("x second line y", ["first line\nsecond line"])).toBe("x [REDACTED] y")
  })

  it("does not look for given values that are shorter than the bound", () => {
    const value = "q".repeat(limits.redactedValueCharactersMin)
    expect(redactLine(`a ${value} b`, [value.slice(1)])).toBe(`a ${value} b`)
    expect(redactLine(`a ${value} b`, [value])).toBe("a [REDACTED] b")
  })

  it("takes time linear in a hostile line", () => {
    for (const hostile of ["a".repeat(16_384), "token".repeat(3_000), "-".repeat(16_384), '"'.repeat(16_384)])
      expect(redactLine(hostile).length).toBeLessThan(20_000)
  })

  it("knows sensitive names of variables", () => {
    expect(["GITHUB_TOKEN", "db-password", "X_API_KEY", "SSH_PRIVATE_KEY"].every(isSensitiveName)).toBe(true)
    expect(["PATH", "MAX_TOKENS", "HOME"].some(isSensitiveName)).toBe(false)
    expect(sensitiveValues({ PATH: "/bin", GITHUB_TOKEN: "t" })).toEqual(["t"])
  })
})
