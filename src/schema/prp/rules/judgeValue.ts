/**
 * One value judged by what it says of itself: its kind by its own `schema` (`schemaVersion` for the conformance runs), then
 * that kind's schema, then what the contract demands of one such value beyond its schema.
 */
import * as Result from "effect/Result"
import { PrpRejected, QuestionResponseRefused, QuestionSetRefused } from "../../errors.ts"
import { decodePrp } from "../contract/decode.ts"
import type { QuestionAdapterFixture } from "../contract/fixture.ts"
import { prpFamilies, type PrpFamily, type PrpKind, prpSchemas, type PrpSchemaId } from "../contract/kinds.ts"
import { nativeAt } from "../native.ts"
import { checkFixtureBindings } from "./fixtureBindings.ts"
import { checkQuestionResponse } from "./questionResponse.ts"
import { checkQuestionSet } from "./questionSet.ts"

/** Names places and expectations, never values. */
export type Refused = PrpRejected | QuestionSetRefused | QuestionResponseRefused

/** The same value, if it is of the kind that it names and holds to all its rules. */
export const judgeValue = (value: unknown): Result.Result<unknown, Refused> => {
  const kind = kindOfValue(value)
  return kind === undefined ? Result.fail(unknownKind) : judgeAs(kind, value)
}

/** The same value, if it is of the kind and holds to all its rules. */
export const judgeAs = (kind: PrpKind, value: unknown): Result.Result<unknown, Refused> => {
  switch (kind) {
    case "paperclip.prp.fixture.v1":
      return Result.flatMap(decodePrp(kind, value), checkFixtureBindings)
    case "paperclip.question_set.v1":
      return Result.flatMap(decodePrp(kind, value), checkQuestionSet)
    case "paperclip.runtime_request.v2":
      return Result.flatMap(decodePrp(kind, value), ({ input }) => below("/input", checkQuestionSet(input)))
    case "paperclip.question_adapter_fixture.v1":
      return Result.flatMap(decodePrp(kind, value), checkAdapterFixture)
    default:
      return decodePrp(kind, value)
  }
}

/** What a value says that it is. A version that we do not know still names a kind. `undefined`: none of ours. */
export const kindOfValue = (value: unknown): PrpKind | undefined => {
  const id = schemaIdOf(value)
  if (id === undefined || isSchemaId(id)) return id
  const known = schemaIds.find((other) => stemOf(other) === stemOf(id))
  return known === undefined ? undefined : (familyOf(known) ?? known)
}

export const isPrpKind = (name: string): name is PrpKind =>
  Object.hasOwn(prpSchemas, name) || Object.hasOwn(prpFamilies, name)

/** The schema id that a value gives itself. */
export const schemaIdOf = (value: unknown): string | undefined =>
  [nativeAt(value, "schema"), nativeAt(value, "schemaVersion")].find((id) => typeof id === "string")

/** A kind whose values name no schema has a name without a version: none of them names it. */
const isSchemaId = (id: string): id is PrpSchemaId => stemOf(id) !== id && Object.hasOwn(prpSchemas, id)

const stemOf = (id: string): string => /^(.+)\.v\d+$/.exec(id)?.[1] ?? id

const schemaIds = Object.keys(prpSchemas).filter(isSchemaId)

const familyOf = (id: PrpSchemaId): PrpKind | undefined =>
  families.find((family) => prpFamilies[family].some((member) => member === id))

const families = ["command", "event", "request", "capabilities", "activity"] as const satisfies ReadonlyArray<PrpFamily>

const unknownKind = new PrpRejected({
  code: "schema_validation",
  kind: "unknown",
  issues: [{ path: "/schema", expectation: "Expected the schema id of a kind of the contract" }]
})

const checkAdapterFixture = (fixture: QuestionAdapterFixture): Result.Result<unknown, Refused> =>
  Result.flatMap(below("/canonicalQuestionSet", checkQuestionSet(fixture.canonicalQuestionSet)), (set) =>
    below("/canonicalResponse", checkQuestionResponse(set, fixture.canonicalResponse))
  )

const below = <Value>(
  place: string,
  checked: Result.Result<Value, QuestionSetRefused | QuestionResponseRefused>
): Result.Result<Value, Refused> =>
  Result.mapError(checked, (refused) => {
    const issues = refused.issues.map((issue) => ({ ...issue, path: `${place}${issue.path}` }))
    return refused._tag === "QuestionSetRefused"
      ? new QuestionSetRefused({ issues })
      : new QuestionResponseRefused({ issues })
  })
