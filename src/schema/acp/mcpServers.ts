/**
 * MCP servers that a user gives to a session, checked strictly before an agent sees them.
 *
 * Guarantees: what passes has exactly the fields of ACP v1 and a transport that the agent takes (stdio unless it is known to
 * drop it, the others where it advertises them); one wrong server refuses all of them, for a session that silently lacks a
 * tool is worse than none. A refusal names the server and the field, never a value: environments and headers hold secrets.
 * Bounds: servers, entries, bytes of one text.
 * Source: ACP v1 `session/new`, `mcpCapabilities`.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { utf8Bytes } from "../characters.ts"
import { displayLine, hasUnsafeCharacter } from "../displayText.ts"
import { McpServerRefused } from "../errors.ts"
import { limits } from "../limits.ts"

/** As an agent advertises it; absent and `null` are no. */
export interface McpCapabilities {
  /** Not advertised: every agent takes servers that are processes. `false`: this one is known to drop them without a word. */
  readonly stdio?: boolean
  readonly http?: boolean | null | undefined
  readonly sse?: boolean | null | undefined
}

/**
 * `input` is the user's list in the shape of ACP, with two liberties: a stdio server may say `type: "stdio"`, and an empty
 * list of arguments, variables or headers may be left out. The result has neither. Errors: `McpServerRefused`.
 */
export const mcpServers = (
  input: unknown,
  capabilities: McpCapabilities
): Result.Result<ReadonlyArray<McpServer>, McpServerRefused> => {
  if (!Array.isArray(input)) return refuse("*", "not a list")
  if (input.length > limits.mcpServersMax) return refuse("*", `more than ${limits.mcpServersMax} servers`)
  const servers: Array<McpServer> = []
  for (const [index, item] of input.entries()) {
    const server = serverOf(item, capabilities)
    if (Result.isFailure(server)) return refuse(labelOf(item, index), server.failure)
    const { name } = server.success
    if (servers.some((earlier) => earlier.name === name)) return refuse(name, "the name is given twice")
    servers.push(server.success)
  }
  return Result.succeed(servers)
}

const filter = (holds: (text: string) => boolean, expected: string) => Schema.makeFilter(holds, { expected })

const isShort = filter(
  (text) => utf8Bytes(text) <= limits.mcpServerTextBytesMax,
  `at most ${limits.mcpServerTextBytesMax} bytes`
)
const Text = Schema.String.check(
  isShort,
  filter((text) => !text.includes("\0"), "text without NUL")
)

const Name = Schema.String.check(
  filter((name) => name.trim() !== "", "a name"),
  filter((name) => name.length <= limits.idCharactersMax, `at most ${limits.idCharactersMax} characters`),
  filter((name) => !hasUnsafeCharacter(name), "a name without control or format characters")
)

/** An agent starts it from a directory that we do not choose, so a relative path would mean nothing certain. */
const Command = Text.check(
  filter((command) => command.trim() !== "", "a command"),
  filter((command) => command.startsWith("/") || !command.includes("/"), "an absolute path or a plain name to look up")
)

const Url = Text.check(filter((url) => /^https?:\/\//.test(url) && URL.canParse(url), "an http or https URL"))

const Variable = Schema.Struct({
  name: Text.check(filter((name) => /^[^=]+$/.test(name), "a name of a variable")),
  value: Text
})

const Header = Schema.Struct({
  name: Text.check(filter((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name), "a name of a header")),
  value: Text.check(filter((value) => !/[\r\n]/.test(value), "a value on one line"))
})

const listOf = <S extends Schema.Top>(item: S) =>
  Schema.optionalKey(Schema.Array(item).check(Schema.isMaxLength(limits.mcpServerEntriesMax)))

const StdioServer = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("stdio")),
  name: Name,
  command: Command,
  args: listOf(Text),
  env: listOf(Variable)
})

const RemoteServer = Schema.Struct({
  type: Schema.Literals(["http", "sse"]),
  name: Name,
  url: Url,
  headers: listOf(Header)
})

export type NameValue = typeof Variable.Type

/** As it stands in `session/new`. */
export type McpServer =
  | {
      readonly name: string
      readonly command: string
      readonly args: ReadonlyArray<string>
      readonly env: ReadonlyArray<NameValue>
    }
  | {
      readonly type: "http" | "sse"
      readonly name: string
      readonly url: string
      readonly headers: ReadonlyArray<NameValue>
    }

const decodeStdio = Schema.decodeUnknownResult(StdioServer, { onExcessProperty: "error" })
const decodeRemote = Schema.decodeUnknownResult(RemoteServer, { onExcessProperty: "error" })

const serverOf = (item: unknown, capabilities: McpCapabilities): Result.Result<McpServer, string> => {
  const type = fieldOf(item, "type")
  if (type === undefined || type === "stdio") {
    if (capabilities.stdio === false) return Result.fail("the agent takes no stdio servers")
    return Result.mapBoth(decodeStdio(item), {
      onFailure: reasonOf,
      onSuccess: ({ name, command, args = [], env = [] }) => ({ name, command, args, env })
    })
  }
  if (type !== "http" && type !== "sse") return Result.fail("type is none of stdio, http, sse")
  if (capabilities[type] !== true) return Result.fail(`the agent takes no ${type} servers`)
  return Result.mapBoth(decodeRemote(item), {
    onFailure: reasonOf,
    onSuccess: ({ name, url, headers = [] }) => ({ type, name, url, headers })
  })
}

/** Holds what was expected and where, not what was there. */
const reasonOf = (error: Schema.SchemaError): string =>
  displayLine(error.message.replace(/\s*\n\s*/g, " "), limits.idCharactersMax)

const labelOf = (item: unknown, index: number): string => {
  const name = fieldOf(item, "name")
  return typeof name === "string" && name !== "" ? displayLine(name, limits.idCharactersMax) : `#${index + 1}`
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined

const refuse = (server: string, reason: string): Result.Result<never, McpServerRefused> =>
  Result.fail(new McpServerRefused({ server, reason }))
