/** `--mcp JSON-or-FILE`: one MCP server or a list of them in the shape of ACP. What is in it is checked by the session. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { UsageInvalid } from "../schema/errors.ts"

/** The servers of every use of the option, in order. Errors name the use, never what is in it: it may hold secrets. */
export const mcpServersOf = (values: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<unknown>, UsageInvalid> =>
  Effect.map(Effect.forEach(values, serversOf), (lists) => lists.flat())

const serversOf = Effect.fnUntraced(function* (value: string) {
  const isJson = /^\s*[{[]/.test(value)
  const text = isJson ? value : yield* textOf(value)
  const servers = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => refused(isJson ? "the value is not JSON" : `${value} is not JSON`)
  })
  return Array.isArray(servers) ? servers : [servers]
})

const textOf = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: () => refused(`neither JSON nor a readable file: ${file}`)
  })

const refused = (reason: string) => new UsageInvalid({ option: "--mcp", reason })
