/**
 * Frames of the transport as texts. What is read is JSON of a shape that can be parsed safely and a frame of its kind, or is
 * refused with places and expectations, never with a value. A stored event is written into its frame as it is.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { PrpRejected } from "../errors.ts"
import { parsePrpText } from "./contract/decode.ts"
import { issuesOf } from "./contract/issues.ts"
import { namesOf } from "./contract/names.ts"
import { isNativeObject } from "./native.ts"
import { ControlFrame, RunnerFrame, transportProtocol } from "./transportFrame.ts"

/** What the frames of one connection have in common. */
export interface Connection {
  readonly version: number
  readonly runnerInstanceId: string | null
  readonly connectionId: string | null
}

export const readControlFrame = (text: string): Result.Result<ControlFrame, PrpRejected> => readControl(text)

export const readRunnerFrame = (text: string): Result.Result<RunnerFrame, PrpRejected> => readRunner(text)

export const frameText = (
  connection: Connection,
  kind: (ControlFrame | RunnerFrame)["kind"],
  payload: unknown,
  runId: string | null = null
): string =>
  JSON.stringify({
    protocol: transportProtocol,
    version: connection.version,
    kind,
    runnerInstanceId: connection.runnerInstanceId,
    runId,
    connectionId: connection.connectionId,
    payload
  })

/** `json` is the envelope of the event. */
export const eventFrameText = (
  connection: Connection,
  event: { readonly runId: string; readonly sessionId: string; readonly json: string },
  previousSourceSeq: number
): string =>
  `{"protocol":"${transportProtocol}","version":${connection.version},"kind":"event"` +
  `,"runnerInstanceId":${JSON.stringify(connection.runnerInstanceId)},"runId":${JSON.stringify(event.runId)}` +
  `,"normalizedSessionId":${JSON.stringify(event.sessionId)},"connectionId":${JSON.stringify(connection.connectionId)}` +
  `,"payload":{"previousSourceSeq":${previousSourceSeq},"event":${event.json}}}`

const name = "transport_frame"

/** By its kind, so that what is wrong is told of that kind. */
const readerOf = <Members extends ReadonlyArray<FrameSchema>>(frames: Schema.Union<Members>) => {
  type Frame = Members[number]["Type"]
  const decoders = new Map<unknown, (value: unknown) => Result.Result<Frame, Schema.SchemaError>>(
    frames.members.map((member) => [member.schema.fields.kind.literal, Schema.decodeUnknownResult(member)])
  )
  const kinds = [...decoders.keys()].join(", ")
  let names: ReadonlySet<PropertyKey> | undefined
  const rejected = (issues: PrpRejected["issues"]) => new PrpRejected({ code: "schema_validation", kind: name, issues })

  const read = (value: unknown): Result.Result<Frame, PrpRejected> => {
    if (!isNativeObject(value)) return Result.fail(rejected([{ path: "", expectation: "Expected an object" }]))
    const decode = decoders.get(Object.hasOwn(value, "kind") ? value["kind"] : undefined)
    if (decode === undefined) {
      return Result.fail(rejected([{ path: "/kind", expectation: `Expected one of ${kinds}` }]))
    }
    return Result.mapError(decode(value), ({ issue }) =>
      rejected(issuesOf(issue, value, (names ??= namesOf([ControlFrame, RunnerFrame]))))
    )
  }
  return (text: string) => Result.flatMap(parsePrpText(name, text), read)
}

type FrameSchema = Schema.Decoder<unknown> & {
  readonly schema: { readonly fields: { readonly kind: { readonly literal: string } } }
}

const readControl = readerOf(ControlFrame)
const readRunner = readerOf(RunnerFrame)
