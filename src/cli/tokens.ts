/** `greenroom token`: makes, lists and revokes the tokens of a runner, whether or not it runs. */
import { join } from "node:path"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { tokenFolder } from "../layers/transport/tokenFolder.ts"
import { type OutputClosed, type TokenFolderUnusable, UsageInvalid } from "../schema/errors.ts"
import type { ListedToken } from "../services/Tokens.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stderrStream, stdoutStream } from "./outputStream.ts"
import { serveFolder } from "./serveFolder.ts"
import { shownLine } from "./shownText.ts"

interface Place {
  readonly state: string | undefined
}

export interface MintOptions extends Place {
  readonly companyId: string
  readonly runIds: ReadonlyArray<string> | null
  readonly ttlMs: number
}

const tokensOf = ({ state }: Place) => tokenFolder(join(serveFolder(state), "tokens"))

/** The token is all of stdout, and is shown this once. */
export const mintToken = Effect.fn("greenroom.token.mint")(function* (
  options: MintOptions
): Effect.fn.Return<ExitCode, OutputClosed | TokenFolderUnusable | UsageInvalid> {
  const tokens = yield* tokensOf(options)
  const { expiresAtMs, id, token } = yield* tokens.mint(options).pipe(
    Effect.catchTag("TokenMintRefused", ({ limit, reason }) => {
      const option = reason === "ttl_invalid" ? "--ttl" : reason === "company_id_invalid" ? "--company" : "--run"
      return Effect.fail(new UsageInvalid({ option, reason: `${reason.replaceAll("_", " ")}, the limit is ${limit}` }))
    })
  )
  yield* stdoutStream().write(`${token}\n`)
  yield* Effect.ignore(stderrStream().write(`greenroom: token ${id}, good until ${instant(expiresAtMs)}\n`))
  return exitCodes.completed
})

export const listTokens = Effect.fn("greenroom.token.list")(function* (
  options: Place & { readonly json: boolean }
): Effect.fn.Return<ExitCode, OutputClosed | TokenFolderUnusable> {
  const tokens = yield* (yield* tokensOf(options)).list
  yield* stdoutStream().write(options.json ? jsonLine({ tokens }) : tokens.map((one) => `${lineOf(one)}\n`).join(""))
  return exitCodes.completed
})

const lineOf = ({ companyId, expiresAtMs, id, runIds }: ListedToken): string =>
  `${shownLine(id)}  ${shownLine(companyId)}  ${runIds === null ? "all runs" : runIds.map(shownLine).join(", ")}  good until ${instant(expiresAtMs)}`

/** 1: there was no such token. */
export const revokeToken = Effect.fn("greenroom.token.revoke")(function* (
  options: Place & { readonly id: string }
): Effect.fn.Return<ExitCode, TokenFolderUnusable> {
  const isRevoked = yield* (yield* tokensOf(options)).revoke(options.id)
  yield* Effect.ignore(
    stderrStream().write(`greenroom: ${isRevoked ? "revoked" : "there is no such token"}: ${shownLine(options.id)}\n`)
  )
  return isRevoked ? exitCodes.completed : exitCodes.failed
})

const instant = (ms: number): string => DateTime.formatIso(DateTime.makeUnsafe(ms))
