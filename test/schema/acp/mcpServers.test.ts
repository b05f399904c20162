import type { McpServer as SdkMcpServer } from "@agentclientprotocol/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { mcpServers } from "../../../src/schema/acp/mcpServers.ts"
import { limits } from "../../../src/schema/limits.ts"

const all = { http: true, sse: true }

const stdio = {
  name: "files",
  command: "/usr/bin/mcp",
  args: ["--root", "."],
  env: [{ name: "TOKEN", value: "s3cret" }]
}
const http = {
  type: "http",
  name: "web",
  url: "https://example.test/mcp",
  headers: [{ name: "Authorization", value: "s3cret" }]
}

const refusal = (input: unknown, capabilities = {}): string => {
  const result = mcpServers(input, capabilities)
  return Result.isFailure(result) ? `${result.failure.server}: ${result.failure.reason}` : "taken"
}

describe("mcpServers", () => {
  it("makes an empty list of an empty list", () => {
    assert.deepStrictEqual(Result.getOrThrow(mcpServers([], {})), [])
  })

  it("passes the servers of ACP on as they are", () => {
    const servers: ReadonlyArray<unknown> = [stdio, http, { ...http, type: "sse", name: "events" }]
    assert.deepStrictEqual(Result.getOrThrow<ReadonlyArray<unknown>, unknown>(mcpServers(servers, all)), servers)
  })

  it("fills in empty lists and leaves out the type of a stdio server", () => {
    const made = Result.getOrThrow(
      mcpServers(
        [
          { type: "stdio", name: "a", command: "npx" },
          { type: "http", name: "b", url: "http://localhost:1/" }
        ],
        all
      )
    )
    const inSdkTypes: ReadonlyArray<SdkMcpServer> = made.map((server): SdkMcpServer =>
      "command" in server
        ? { ...server, args: [...server.args], env: [...server.env] }
        : { ...server, headers: [...server.headers] }
    )
    assert.deepStrictEqual(inSdkTypes, [
      { name: "a", command: "npx", args: [], env: [] },
      { type: "http", name: "b", url: "http://localhost:1/", headers: [] }
    ])
  })

  it("refuses a stdio server where the agent is known to drop it", () => {
    assert.strictEqual(refusal([http], { ...all, stdio: false }), "taken")
    for (const server of [stdio, { ...stdio, type: "stdio" }]) {
      assert.strictEqual(refusal([http, server], { ...all, stdio: false }), "files: the agent takes no stdio servers")
    }
  })

  it("takes a transport only where the agent advertises it", () => {
    for (const capabilities of [{}, { http: false, sse: false }, { http: null, sse: null }]) {
      assert.strictEqual(refusal([stdio], capabilities), "taken")
      assert.strictEqual(refusal([http], capabilities), "web: the agent takes no http servers")
      assert.strictEqual(refusal([{ ...http, type: "sse" }], capabilities), "web: the agent takes no sse servers")
    }
    assert.strictEqual(refusal([http], { http: true }), "taken")
    assert.strictEqual(refusal([{ ...http, type: "sse" }], { http: true }), "web: the agent takes no sse servers")
  })

  it.each([
    ["no list", {}, /^\*: not a list/],
    ["nothing", undefined, /^\*: not a list/],
    ["text for a server", ["files"], /^#1: /],
    ["null for a server", [stdio, null], /^#2: /],
    ["a type that nobody knows", [{ ...http, type: "carrier-pigeon" }], /^web: type is none of/],
    ["no name", [{ command: "/a" }], /^#1: .*"name"/],
    ["a blank name", [{ ...stdio, name: " " }], /^ : Expected a name/],
    ["a name with control characters", [{ ...stdio, name: "a\u0007" }], /^a\ufffd: .*"name"/],
    ["a name twice", [stdio, { ...http, name: "files" }], /^files: the name is given twice/],
    ["no command", [{ name: "a" }], /^a: .*"command"/],
    ["a blank command", [{ ...stdio, command: "" }], /"command"/],
    ["a command with a relative path", [{ ...stdio, command: "./mcp" }], /absolute path or a plain name/],
    ["a command with NUL", [{ ...stdio, command: "/a\0" }], /"command"/],
    ["arguments that are text", [{ ...stdio, args: "--root ." }], /"args"/],
    ["an argument that is no text", [{ ...stdio, args: ["a", 1] }], /"args"\]\[1\]/],
    ["an argument with NUL", [{ ...stdio, args: ["a\0"] }], /"args"\]\[0\]/],
    ["an environment that is an object", [{ ...stdio, env: { TOKEN: "s3cret" } }], /"env"/],
    ["a variable without a value", [{ ...stdio, env: [{ name: "TOKEN" }] }], /"value"/],
    ["a variable whose name holds an equals sign", [{ ...stdio, env: [{ name: "A=B", value: "s3cret" }] }], /"name"/],
    ["a variable without a name", [{ ...stdio, env: [{ name: "", value: "s3cret" }] }], /"name"/],
    [
      "a variable with a field too many",
      [{ ...stdio, env: [{ name: "A", value: "s3cret", secret: true }] }],
      /"secret"/
    ],
    ["a field too many", [{ ...stdio, cwd: "/s3cret" }], /"cwd"/],
    ["a command and a URL", [{ ...stdio, url: "https://s3cret.test" }], /"url"/],
    ["no URL", [{ type: "http", name: "web" }], /"url"/],
    ["a URL of another kind", [{ ...http, url: "file:///s3cret" }], /http or https URL/],
    ["a URL that is none", [{ ...http, url: "https://" }], /http or https URL/],
    ["a header with a line break", [{ ...http, headers: [{ name: "A", value: "s3cret\r\nB: c" }] }], /"value"/],
    ["a header whose name is none", [{ ...http, headers: [{ name: "A B", value: "s3cret" }] }], /"name"/]
  ] as ReadonlyArray<[string, unknown, RegExp]>)("refuses %s, and shows no value", (_name, input, expected) => {
    const said = refusal(input, all)
    assert.match(said, expected)
    assert.notInclude(said, "s3cret")
  })

  it("takes as many servers and entries as the bounds admit", () => {
    const servers = Array.from({ length: limits.mcpServersMax }, (_, n) => ({ name: `s${n}`, command: "/a" }))
    assert.strictEqual(refusal(servers), "taken")
    assert.match(refusal([...servers, stdio]), /more than/)
    const entries = Array.from({ length: limits.mcpServerEntriesMax }, (_, n) => ({ name: `N${n}`, value: "" }))
    const args = entries.map(({ name }) => name)
    assert.strictEqual(
      refusal(
        [
          { ...stdio, args, env: entries },
          { ...http, headers: entries }
        ],
        all
      ),
      "taken"
    )
    assert.match(refusal([{ ...stdio, args: [...args, "a"] }]), /"args"/)
    assert.match(refusal([{ ...stdio, env: [...entries, { name: "A", value: "" }] }]), /"env"/)
    assert.match(refusal([{ ...http, headers: [...entries, { name: "A", value: "" }] }], all), /"headers"/)
  })

  it("takes texts of as many bytes and names of as many characters as the bounds admit", () => {
    const text = "ä".repeat(limits.mcpServerTextBytesMax / 2)
    const command = `/${"a".repeat(limits.mcpServerTextBytesMax - 1)}`
    assert.strictEqual(refusal([{ ...stdio, command, args: [text], env: [{ name: "A", value: text }] }]), "taken")
    assert.match(refusal([{ ...stdio, args: [`${text}a`] }]), /"args"/)
    assert.match(refusal([{ ...stdio, command: `${command}a` }]), /"command"/)
    assert.match(refusal([{ ...stdio, env: [{ name: "A", value: `${text}a` }] }]), /"value"/)
    const name = "n".repeat(limits.idCharactersMax)
    assert.strictEqual(refusal([{ ...stdio, name }]), "taken")
    assert.match(refusal([{ ...stdio, name: `${name}n` }]), /at most 160 characters/)
  })
})
