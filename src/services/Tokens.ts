/** Tokens that let their bearers reach the runs of one company: made by the operator, good for a time, revocable. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Authority } from "../schema/authority.ts"
import type { TokenFolderUnusable, TokenMintRefused, TokenRefused } from "../schema/errors.ts"

/** What a token is good for. */
export interface TokenScope {
  readonly companyId: string
  /** `null`: all of the company's. */
  readonly runIds: ReadonlyArray<string> | null
}

export interface MintedToken {
  /** Names the token without giving it away. */
  readonly id: string
  /** The secret. It is told this once. */
  readonly token: string
  readonly expiresAtMs: number
}

export interface ListedToken extends TokenScope {
  readonly id: string
  readonly expiresAtMs: number
}

export interface TokenGrant {
  readonly id: string
  readonly authority: Extract<Authority, { readonly _tag: "Tenant" }>
  /** Completes when the token is not good any more: at its expiry, or within `tokenPollMs` of its revocation. */
  readonly ended: Effect.Effect<"expired" | "revoked">
}

export class Tokens extends Context.Service<
  Tokens,
  {
    /** If interrupted: it was made, or was not. */
    readonly mint: (
      options: TokenScope & { readonly ttlMs: number }
    ) => Effect.Effect<MintedToken, TokenMintRefused | TokenFolderUnusable>
    /** What the bearer of this text may do. Nothing about other tokens can be learned from a refusal or from its time. */
    readonly verify: (token: string) => Effect.Effect<TokenGrant, TokenRefused>
    /** Those that are good, in the order of their ids. */
    readonly list: Effect.Effect<ReadonlyArray<ListedToken>, TokenFolderUnusable>
    /** `false`: there was no such token. */
    readonly revoke: (id: string) => Effect.Effect<boolean, TokenFolderUnusable>
  }
>()("greenroom/services/Tokens") {}
