/**
 * What holds a fixture together beyond its schema: its events are those of its run, its commands have no gap, what comes again
 * is the same, every call of a tool has one input and one end, and it has one result and one terminal.
 */
import * as Result from "effect/Result"
import { type PrpIssue, PrpRejected } from "../../errors.ts"
import { limits } from "../../limits.ts"
import type { Fixture } from "../contract/fixture.ts"
import { unsupportedVersion } from "../contract/requiredVersion.ts"
import { canonicalJson } from "./canonicalJson.ts"
import { type PlacedEvent, semanticCallIssues } from "./semanticCalls.ts"

/** A fixture from its text. `decode` judges the text: its JSON, the required versions, then the schema. */
export const validateFixture = (
  text: string,
  decode: (text: string) => Result.Result<Fixture, PrpRejected>
): Result.Result<Fixture, PrpRejected> => Result.flatMap(decode(text), checkFixtureBindings)

/**
 * The same fixture, or what does not fit together in it. A version that its schema leaves open and that we do not support is
 * told before.
 */
export const checkFixtureBindings = (fixture: Fixture): Result.Result<Fixture, PrpRejected> => {
  const unsupported = unsupportedVersion([kind], fixture)
  if (unsupported !== undefined) {
    return Result.fail(new PrpRejected({ code: "unsupported_required_version", kind, issues: [unsupported] }))
  }
  const { distinct, issues: repeats } = distinctEvents(fixture)
  const issues = [
    ...identityIssues(fixture),
    ...repeats,
    ...commandIssues(fixture),
    ...semanticCallIssues(fixture, distinct),
    ...onlyOne(distinct, "run.result.proposed"),
    ...onlyOne(distinct, "run.terminal"),
    ...resultIssues(fixture, distinct)
  ]
  return issues.length === 0
    ? Result.succeed(fixture)
    : Result.fail(
        new PrpRejected({
          code: "binding_mismatch",
          kind,
          issues: issues.slice(0, limits.prpIssuesMax)
        })
      )
}

const kind = "paperclip.prp.fixture.v1"

const identityIssues = ({ identity, events }: Fixture): ReadonlyArray<PrpIssue> =>
  events.flatMap((event, index) => [
    ...(event.runId === identity.runId
      ? []
      : [{ path: `/events/${index}/runId`, expectation: "Expected the run of the identity" }]),
    ...(event.normalizedSessionId === undefined || event.normalizedSessionId === identity.normalizedSessionId
      ? []
      : [{ path: `/events/${index}/normalizedSessionId`, expectation: "Expected the session of the identity" }])
  ])

/** Delivery is at least once: the same id may come again, with the same event. */
const distinctEvents = ({ events }: Fixture) => {
  const first = new Map<string, { readonly index: number; readonly text: string | undefined }>()
  const distinct: Array<PlacedEvent> = []
  const issues: Array<PrpIssue> = []
  for (const [index, event] of events.entries()) {
    const text = Result.getOrUndefined(canonicalJson(event))
    const known = first.get(event.sourceEventId)
    if (known === undefined) {
      first.set(event.sourceEventId, { index, text })
      distinct.push({ event, path: `/events/${index}` })
    } else if (text === undefined || known.text !== text) {
      issues.push({
        path: `/events/${index}`,
        expectation: `Expected the same as event ${known.index}, whose id it has`
      })
    }
  }
  return { distinct, issues }
}

const commandIssues = ({ commands }: Fixture): ReadonlyArray<PrpIssue> =>
  commands.flatMap(({ controllerSeq }, index) =>
    controllerSeq === index + 1
      ? []
      : [{ path: `/commands/${index}/controllerSeq`, expectation: `Expected ${index + 1}` }]
  )

const onlyOne = (events: ReadonlyArray<PlacedEvent>, eventType: string): ReadonlyArray<PrpIssue> => {
  const count = events.filter(({ event }) => event.eventType === eventType).length
  return count === 1 ? [] : [{ path: "/events", expectation: `Expected exactly one ${eventType}, not ${count}` }]
}

const resultIssues = ({ result }: Fixture, events: ReadonlyArray<PlacedEvent>): ReadonlyArray<PrpIssue> => {
  const expected = Result.getOrUndefined(canonicalJson(result))
  return events
    .filter(({ event }) => event.eventType === "run.result.proposed")
    .filter(({ event }) => expected === undefined || Result.getOrUndefined(canonicalJson(event.payload)) !== expected)
    .map(({ path }) => ({ path: `${path}/payload`, expectation: "Expected the result of the fixture" }))
}
