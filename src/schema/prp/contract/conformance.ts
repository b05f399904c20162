/** The smallest run that implementations in different languages compare: a run in, its identity and result out. */
import * as Schema from "effect/Schema"
import { textOf } from "../../characters.ts"
import { limits } from "../../limits.ts"
import { Id, open, Revision } from "./primitives.ts"

const outcome = {
  status: Schema.Literals(["succeeded", "failed", "interrupted"]),
  summary: textOf(1, limits.shortTextCharactersMax)
}

export const ConformanceFixture = open({
  schemaVersion: Schema.Literal("paperclip.runner.conformance.fixture.v1"),
  run: open({ runId: Id, sessionId: Id, companyId: Id, issueId: Id, agentId: Id }),
  events: Schema.Array(
    open({ eventId: Id, runId: Id, sequence: Revision, type: Schema.Literals(["run.started", "run.completed"]) })
  ).check(Schema.isMinLength(1)),
  result: open({ runId: Id, ...outcome })
})
export type ConformanceFixture = typeof ConformanceFixture.Type

export const ConformanceOutput = open({
  schemaVersion: Schema.Literal("paperclip.runner.conformance.output.v1"),
  runIdentity: open({ runId: Id, sessionId: Id }),
  result: open(outcome)
})
export type ConformanceOutput = typeof ConformanceOutput.Type
