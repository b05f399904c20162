/** A whole run as data, to be replayed; and the list of such files with what each must hash to. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { Digest } from "../../identity.ts"
import { limits } from "../../limits.ts"
import { Capabilities } from "./capabilities.ts"
import { Command } from "./command.ts"
import { AnyEvent } from "./event.ts"
import { Identity } from "./identity.ts"
import { Id, open, safePath } from "./primitives.ts"
import { QuestionResponse, QuestionSet } from "./question.ts"
import { Request } from "./request.ts"
import { RunResult } from "./result.ts"

export const Fixture = open({
  schema: Schema.Literal("paperclip.prp.fixture.v1"),
  fixtureVersion: Schema.Literal(1),
  protocolVersion: Schema.Literals([1, 2]),
  name: textOf(1, limits.fixtureNameCharactersMax),
  description: textOf(1, limits.fixtureDescriptionCharactersMax),
  identity: Identity,
  capabilities: Capabilities,
  commands: Schema.Array(Command),
  events: Schema.Array(AnyEvent).check(Schema.isMinLength(1)),
  requests: Schema.optionalKey(Schema.Array(Request)),
  result: RunResult
})
export type Fixture = typeof Fixture.Type

/** What an adapter makes of a native question, and of the answer. Closed. */
export const QuestionAdapterFixture = Schema.Struct({
  schema: Schema.Literal("paperclip.question_adapter_fixture.v1"),
  adapter: Id,
  nativeRequest: Schema.Unknown,
  canonicalQuestionSet: QuestionSet,
  canonicalResponse: QuestionResponse,
  nativeResponse: Schema.Unknown
})
export type QuestionAdapterFixture = typeof QuestionAdapterFixture.Type

/** Every file of a corpus. Ours, and closed. */
export const Manifest = Schema.Struct({
  schema: Schema.Literal("greenroom.prp.manifest.v1"),
  protocolVersion: Schema.Literal(2),
  files: Schema.Array(Schema.Struct({ path: safePath(1, limits.changedPathCharactersMax), digest: Digest })).check(
    Schema.isMaxLength(limits.manifestFilesMax)
  )
})
export type Manifest = typeof Manifest.Type
