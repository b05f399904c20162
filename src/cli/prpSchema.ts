/** `greenroom prp schema`: the contract as JSON Schema. */
import * as Effect from "effect/Effect"
import { type OutputClosed, UsageInvalid } from "../schema/errors.ts"
import { isPrpSchemaName, prpSchemaDocument, prpSchemaKinds } from "../schema/prp/contract/jsonSchema.ts"
import { type ExitCode, exitCodes } from "./exitCode.ts"
import { jsonLine } from "./jsonLine.ts"
import { stdoutStream } from "./outputStream.ts"

/** Without a name: the names, and the kind that each describes. */
export const prpSchema = Effect.fn("greenroom.prp.schema")(function* ({
  name,
  json
}: {
  readonly name: string | undefined
  readonly json: boolean
}): Effect.fn.Return<ExitCode, OutputClosed | UsageInvalid> {
  if (name !== undefined && !isPrpSchemaName(name)) {
    return yield* new UsageInvalid({ option: "name", reason: "no schema; `greenroom prp schema` lists them" })
  }
  const stdout = stdoutStream()
  const names = Object.keys(prpSchemaKinds).filter(isPrpSchemaName)
  if (name !== undefined) {
    const document = prpSchemaDocument(name)
    yield* stdout.write(json ? jsonLine(document) : `${JSON.stringify(document, null, 2)}\n`)
  } else if (json) {
    yield* stdout.write(jsonLine({ schemas: names.map((one) => ({ name: one, kind: prpSchemaKinds[one] })) }))
  } else {
    const width = Math.max(...names.map((one) => one.length))
    yield* stdout.write(names.map((one) => `${one.padEnd(width)}  ${prpSchemaKinds[one]}\n`).join(""))
  }
  return exitCodes.completed
})
