/**
 * Messages are values: a tag, a payload, and (in types only) what an ask of it is answered with. In one process nothing is
 * encoded.
 *
 * A protocol is a union of `Tell` and `Ask`; its handlers are one record, keyed by tag.
 */
import type * as Effect from "effect/Effect"

export interface AnyMessage {
  readonly _tag: string
}

/** A message that nobody waits for. It may still be asked, to learn that it was handled. */
export type Tell<Tag extends string, P = {}> = { readonly _tag: Tag } & Readonly<P>

/** A message answered with `A` or the typed failure `E`. `~reply` exists in types only. */
export type Ask<Tag extends string, P, A, E = never> = {
  readonly _tag: Tag
  readonly "~reply"?: { readonly success: A; readonly error: E }
} & Readonly<P>

/** What an ask of this message succeeds with; `void` for a `Tell`. */
export type Success<M> = M extends { readonly "~reply"?: infer Reply }
  ? Reply extends { readonly success: infer A }
    ? A
    : void
  : void

/** How an ask of this message may fail; `never` for a `Tell`. */
export type Failure<M> = M extends { readonly "~reply"?: infer Reply }
  ? Reply extends { readonly error: infer E }
    ? E
    : never
  : never

/** The message of a protocol that has this tag. */
export type Tagged<M extends AnyMessage, Tag extends M["_tag"]> = Extract<M, { readonly _tag: Tag }>

/**
 * A reply that comes after the handler has returned, so that the next message gets its turn. Made by `Actor.later`, which
 * runs the work in the actor's scope.
 */
export interface Later<out A, out E> {
  readonly "~greenroom/Later": true
  /** The reply, for a caller that runs handlers without the kernel. */
  readonly await: Effect.Effect<A, E>
}

/** One handler per tag. A handler is short; what takes long is forked by `Actor.later`. */
export type Handlers<M extends AnyMessage, R = never> = {
  readonly [T in M["_tag"]]: (
    message: Tagged<M, T>
  ) => Effect.Effect<
    Success<Tagged<M, T>> | Later<Success<Tagged<M, T>>, Failure<Tagged<M, T>>>,
    Failure<Tagged<M, T>>,
    R
  >
}
