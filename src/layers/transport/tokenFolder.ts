/**
 * Tokens in a folder, one file each, so that they are made and revoked beside a runner that serves.
 *
 * Guarantees: the folder is 0700 and ours, each file 0600; a secret is in none of them, only its digest; a text that is no
 * token reaches no path; secrets are compared in constant time, and an unknown id is compared as well. Bounds: tokens, their
 * time and their runs. Two who make the last token at the same time may both get one.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { TokenFolderUnusable, TokenMintRefused, TokenRefused } from "../../schema/errors.ts"
import { digestOf, StableId } from "../../schema/identity.ts"
import { limits } from "../../schema/limits.ts"
import { type ListedToken, type TokenGrant, Tokens, type TokenScope } from "../../services/Tokens.ts"
import { errorCode } from "../process/pipes.ts"
import { refusalOf } from "../store/privateFile.ts"
import { fileOf, readTokenFile, removeTokenFile, tokenIds, type TokenRecord, writeTokenFile } from "./tokenFile.ts"

/** Makes the folder when there is none. */
export const tokenFolder = Effect.fn("tokenFolder")(function* (
  place: string
): Effect.fn.Return<Tokens["Service"], TokenFolderUnusable> {
  const folder = path.resolve(place)
  const io = ioOf(folder)
  yield* Effect.flatten(io(() => prepare(folder)))

  const good = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    io(() => recordsOf(folder).filter((record) => nowMs < record.expiresAtMs))
  )

  const mint: Tokens["Service"]["mint"] = Effect.fn("Tokens.mint")(function* ({ companyId, runIds, ttlMs }) {
    const refusal = mintRefusal({ companyId, runIds, ttlMs })
    if (refusal !== undefined) return yield* refusal
    const nowMs = yield* Clock.currentTimeMillis
    const kept = yield* io(() => removeExpired(folder, nowMs))
    if (kept >= limits.tokensMax) return yield* mintRefused("too_many_tokens", limits.tokensMax)
    const id = `token_${randomBytes(idBytes).toString("hex")}`
    const secret = randomBytes(secretBytes).toString("base64url")
    const expiresAtMs = nowMs + ttlMs
    yield* io(() =>
      writeTokenFile(fileOf(folder, id), { id, companyId, runIds, expiresAtMs, digest: digestOf(secret) })
    )
    return { id, token: `${id}.${secret}`, expiresAtMs }
  })

  const verify: Tokens["Service"]["verify"] = Effect.fn("Tokens.verify")(function* (token) {
    const parts = partsOf(token)
    if (parts === undefined) return yield* new TokenRefused({ reason: "malformed" })
    const record = readTokenFile(folder, parts.id)
    const isRight = isSame(digestOf(parts.secret), record?.digest ?? nobodysDigest)
    if (record === undefined || !isRight) return yield* new TokenRefused({ reason: "unknown" })
    if ((yield* Clock.currentTimeMillis) >= record.expiresAtMs) return yield* new TokenRefused({ reason: "expired" })
    return grantOf(folder, record)
  })

  return Tokens.of({
    mint,
    verify,
    list: Effect.map(good, (records) => records.map(listed)),
    revoke: Effect.fn("Tokens.revoke")(function* (id) {
      return isStableId(id) && (yield* io(() => removeTokenFile(folder, id)))
    })
  })
})

const idBytes = 12
const secretBytes = 32

const ioOf =
  (folder: string) =>
  <A>(look: () => A): Effect.Effect<A, TokenFolderUnusable> =>
    Effect.try({
      try: look,
      catch: (error) => new TokenFolderUnusable({ path: folder, reason: "unusable", detail: errorCode(error) })
    })

const prepare = (folder: string): Effect.Effect<void, TokenFolderUnusable> => {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = refusalOf(fs.lstatSync(folder), "folder")
  if (found === undefined) return Effect.void
  return Effect.fail(new TokenFolderUnusable({ path: folder, reason: found[0], detail: found[1] }))
}

const isStableId = Schema.is(StableId)

const mintRefusal = ({ companyId, runIds, ttlMs }: TokenScope & { readonly ttlMs: number }) => {
  if (!isStableId(companyId)) return mintRefused("company_id_invalid", limits.idCharactersMax)
  if (runIds !== null && runIds.length > limits.tokenRunIdsMax) {
    return mintRefused("too_many_runs", limits.tokenRunIdsMax)
  }
  if (runIds?.every(isStableId) === false) return mintRefused("run_id_invalid", limits.idCharactersMax)
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1 || ttlMs > limits.tokenTtlMsMax) {
    return mintRefused("ttl_invalid", limits.tokenTtlMsMax)
  }
  return undefined
}

const mintRefused = (reason: TokenMintRefused["reason"], limit: number) => new TokenMintRefused({ reason, limit })

const recordsOf = (folder: string): ReadonlyArray<TokenRecord> =>
  tokenIds(folder).flatMap((id) => readTokenFile(folder, id) ?? [])

/** How many files are left; one that is no token of ours takes its place as well. */
const removeExpired = (folder: string, nowMs: number): number => {
  const expired = recordsOf(folder).filter(({ expiresAtMs }) => nowMs >= expiresAtMs)
  for (const { id } of expired) removeTokenFile(folder, id)
  return tokenIds(folder).length
}

const listed = ({ companyId, expiresAtMs, id, runIds }: TokenRecord): ListedToken => ({
  id,
  companyId,
  runIds,
  expiresAtMs
})

const secretPattern = /^[A-Za-z0-9_-]{43}$/

/** A secret has no dot in it; an id may. */
const partsOf = (token: string): { readonly id: string; readonly secret: string } | undefined => {
  const dot = token.lastIndexOf(".")
  const [id, secret] = [token.slice(0, Math.max(dot, 0)), token.slice(dot + 1)]
  return isStableId(id) && secretPattern.test(secret) ? { id, secret } : undefined
}

/** What an unknown id is compared with. No secret has it: they are longer. */
const nobodysDigest = digestOf("nobody")

const isSame = (left: string, right: string): boolean => timingSafeEqual(Buffer.from(left), Buffer.from(right))

const grantOf = (folder: string, { companyId, digest, expiresAtMs, id, runIds }: TokenRecord): TokenGrant => {
  const ended: TokenGrant["ended"] = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    if (nowMs >= expiresAtMs) return Effect.succeed("expired")
    if (readTokenFile(folder, id)?.digest !== digest) return Effect.succeed("revoked")
    return Effect.andThen(Effect.sleep(Math.min(limits.tokenPollMs, expiresAtMs - nowMs)), ended)
  })
  return { id, authority: { _tag: "Tenant", companyId, runIds }, ended }
}
