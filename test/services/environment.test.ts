import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { limits } from "../../src/schema/limits.ts"
import { checkEnvironment, composeEnvironment, type EnvironmentParts } from "../../src/services/environment.ts"

const compose = (parts: EnvironmentParts) => Result.getOrThrow(composeEnvironment(parts))
const refusal = (parts: EnvironmentParts) => Result.getOrThrow(Result.flip(composeEnvironment(parts)))

describe("the environment of a launch", () => {
  it("takes from the host only what is on the list", () => {
    const host = {
      PATH: "/bin",
      LC_ALL: "C",
      LC_lower: "x",
      https_proxy: "p",
      HOME: "/h",
      SECRET: "s",
      OPENAI_API_KEY: "k"
    }
    expect(compose({ host })).toEqual({ PATH: "/bin", LC_ALL: "C", https_proxy: "p" })
  })

  it("never passes a loader variable of the host", () => {
    const host = {
      NODE_OPTIONS: "-r x",
      LD_PRELOAD: "x",
      LD_LIBRARY_PATH: "x",
      DYLD_INSERT_LIBRARIES: "x",
      BASH_ENV: "x"
    }
    expect(compose({ host })).toEqual({})
  })

  it.each(["NODE_OPTIONS", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "ENV"])("refuses %s even when asked for", (name) => {
    expect(refusal({ host: {}, set: { [name]: "x" } }).variable).toBe(name)
    expect(refusal({ host: { [name]: "x" }, inherit: [name] }).variable).toBe(name)
    expect(refusal({ host: { [name]: "x" }, credentials: [name] }).variable).toBe(name)
  })

  it("passes a credential only when it is bound", () => {
    const host = { COPILOT_GITHUB_TOKEN: "t", GITHUB_TOKEN: "g" }
    expect(compose({ host, credentials: ["COPILOT_GITHUB_TOKEN"] })).toEqual({ COPILOT_GITHUB_TOKEN: "t" })
  })

  it.each([undefined, "", "  "])("refuses a bound credential that is %j", (value) => {
    expect(refusal({ host: { TOKEN: value }, credentials: ["TOKEN"] }).variable).toBe("TOKEN")
  })

  it("lets what is set win", () => {
    expect(compose({ host: { PATH: "/bin", HOME: "/h" }, inherit: ["HOME"], set: { HOME: "/private" } })).toEqual({
      PATH: "/bin",
      HOME: "/private"
    })
  })

  it.each([
    ["a NUL in a value", { A: "x\0y" }],
    ["a NUL in a name", { "A\0": "x" }],
    ["an empty name", { "": "x" }],
    ["a name that shells drop", { "a.b": "x" }],
    ["the marker of a launch", { GREENROOM_LAUNCH: "x" }]
  ])("refuses %s", (_, env) => {
    expect(Result.isFailure(checkEnvironment(env))).toBe(true)
  })

  it("names the variable and not its value", () => {
    const refused = refusal({ host: {}, set: { TOKEN: "hidden\0" } })
    expect(refused.variable).toBe("TOKEN")
    expect(JSON.stringify(refused)).not.toContain("hidden")
  })

  it("admits an entry at the bound in bytes and refuses one past it", () => {
    const value = "é".repeat((limits.environmentEntryBytesMax - 2) / 2)
    expect(Result.isSuccess(checkEnvironment({ A: value }))).toBe(true)
    expect(Result.isSuccess(checkEnvironment({ A: `${value}x` }))).toBe(false)
  })

  it("admits all entries at the bound and refuses one byte past it", () => {
    const entries = limits.environmentBytesMax / limits.environmentEntryBytesMax
    const value = "x".repeat(limits.environmentEntryBytesMax - 2)
    const env = Object.fromEntries(Array.from({ length: entries }, (_, index) => [`${"ABCDEFGH"[index]}`, value]))
    expect(Result.isSuccess(checkEnvironment(env))).toBe(true)
    expect(Result.isSuccess(checkEnvironment({ ...env, Z: "" }))).toBe(false)
  })
})
