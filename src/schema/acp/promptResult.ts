/**
 * The answer of `session/prompt`, which ends a turn. Source: ACP v1, prompt turn.
 */
import * as Schema from "effect/Schema"
import { maybe } from "./lenient.ts"

/** Tokens. What an agent does not tell is absent, never zero. */
export const PromptUsage = Schema.Struct({
  totalTokens: maybe(Schema.Number),
  inputTokens: maybe(Schema.Number),
  outputTokens: maybe(Schema.Number),
  thoughtTokens: maybe(Schema.Number),
  cachedReadTokens: maybe(Schema.Number),
  cachedWriteTokens: maybe(Schema.Number)
})
export type PromptUsage = typeof PromptUsage.Type

export const PromptResult = Schema.Struct({
  /** The agent's word: ACP knows five, agents have others. */
  stopReason: Schema.String,
  usage: maybe(PromptUsage),
  /** Extensions, as they came. */
  _meta: maybe(Schema.Unknown)
})
export type PromptResult = typeof PromptResult.Type
