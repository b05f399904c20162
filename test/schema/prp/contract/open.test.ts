import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { decodePrp, decodePrpText } from "../../../../src/schema/prp/contract/decode.ts"
import { type PrpSchemaId, prpSchemas } from "../../../../src/schema/prp/contract/kinds.ts"
import { isPlainObject, pathsIn, valueAt, withAt } from "./places.ts"
import { samples, typedKinds } from "./samples.ts"

const kinds = Object.keys(samples).filter((kind): kind is PrpSchemaId => Object.hasOwn(prpSchemas, kind))

const accepts = (kind: PrpSchemaId, value: unknown) => Result.isSuccess(decodePrp(kind, value))

const strangers = [{ later: { deep: [1, null, { a: "b" }] } }, JSON.parse('{"__proto__":{"x":1}}'), { constructor: 1 }]

const objectsOf = (kind: PrpSchemaId) =>
  pathsIn(samples[kind]).filter((path) => isPlainObject(valueAt(samples[kind], path)))

const withStranger = (kind: PrpSchemaId, path: ReadonlyArray<string>, stranger: object) => {
  const owner = valueAt(samples[kind], path)
  return withAt(samples[kind], path, Object.fromEntries([...Object.entries(owner ?? {}), ...Object.entries(stranger)]))
}

/** Objects of a sample in which a property that nobody knows is refused. Everywhere else it is kept. */
const closed: Partial<Record<PrpSchemaId, ReadonlyArray<string>>> = {
  "paperclip.prp.capabilities.v1": ["typedEventFamilies/0"],
  "paperclip.prp.fixture.v1": [
    "capabilities/typedEventFamilies/0",
    "requests/0",
    "requests/0/origin",
    ...["", "/questions/0", "/questions/0/options/0", "/questions/0/customAnswer", "/questions/0/textValidation"].map(
      (path) => `requests/0/input${path}`
    ),
    ...["/questions/1", "/questions/1/options/0", "/questions/2"].map((path) => `requests/0/input${path}`)
  ]
}

const everywhere: ReadonlySet<PrpSchemaId> = new Set<PrpSchemaId>([
  "paperclip.runtime_request.v2",
  "paperclip.question_set.v1",
  "paperclip.question_response.v1",
  "paperclip.question_adapter_fixture.v1",
  "paperclip.workspace.diff.v1",
  "paperclip.workspace.file_reference.v1",
  "greenroom.prp.manifest.v1",
  "usage",
  "provider_descriptor",
  ...typedKinds
    .map(([, kind]) => kind)
    .filter((kind) => kind !== "paperclip.run_result.v1" && kind !== "paperclip.prp.terminal.v1")
])

/** What stands there is any JSON, or is named by what it holds. */
const free = (kind: PrpSchemaId, path: string) =>
  (kind === "paperclip.question_adapter_fixture.v1" && path === "nativeResponse") || path.endsWith("answers")

const isClosed = (kind: PrpSchemaId, path: string) =>
  !free(kind, path) && (everywhere.has(kind) || closed[kind]?.includes(path) === true)

describe("decodePrp", () => {
  for (const kind of kinds) {
    it(`gives back the very ${kind} that it accepts`, () => {
      const decoded = decodePrp(kind, samples[kind])
      expect(Result.isSuccess(decoded) && decoded.success).toBe(samples[kind])
    })

    it(`keeps what it does not know in open objects of ${kind}, and refuses it in closed ones`, () => {
      for (const path of objectsOf(kind)) {
        for (const stranger of strangers) {
          if (path.at(-1) === "answers") continue
          const value = withStranger(kind, path, stranger)
          expect([path.join("/"), accepts(kind, value)]).toEqual([path.join("/"), !isClosed(kind, path.join("/"))])
        }
      }
    })

    it(`loses nothing of a ${kind} when its schema decodes and encodes it`, () => {
      const schema: Schema.Codec<unknown> = prpSchemas[kind]
      const strict = { onExcessProperty: "error" } as const
      for (const path of objectsOf(kind)) {
        if (path.at(-1) === "answers" || isClosed(kind, path.join("/"))) continue
        for (const stranger of strangers) {
          const value = withStranger(kind, path, stranger)
          const decoded = Schema.decodeUnknownResult(schema, strict)(value)
          const again = Result.flatMap(decoded, (typed) => Schema.encodeUnknownResult(schema, strict)(typed))
          expect(JSON.stringify(sorted(Result.getOrThrow(again)))).toBe(JSON.stringify(sorted(value)))
        }
      }
    })

    it(`reads a ${kind} from its text`, () => {
      expect(decodePrpText(kind, JSON.stringify(samples[kind]))).toEqual(Result.succeed(samples[kind]))
    })
  }
})

/** Events whose payload is typed and open, each with such a payload. */
const openPayloads: ReadonlyArray<readonly ["paperclip.prp.event.v1" | "paperclip.prp.event.v2", string, object]> = [
  ["paperclip.prp.event.v1", "semantic_tool.input", {}],
  ["paperclip.prp.event.v1", "semantic_tool.result", {}],
  ["paperclip.prp.event.v1", "semantic_tool.reconciled", {}],
  ["paperclip.prp.event.v1", "mcp_app.tool_input", {}],
  ["paperclip.prp.event.v1", "mcp_app.tool_result", {}],
  ["paperclip.prp.event.v1", "run.result.proposed", samples["paperclip.run_result.v1"]],
  ["paperclip.prp.event.v1", "run.terminal", samples["paperclip.prp.terminal.v1"]],
  ["paperclip.prp.event.v2", "session.capabilities.updated", { sessionGoals: samples.goal_capability }],
  ["paperclip.prp.event.v2", "session.goal.snapshot", { goal: null }],
  ["paperclip.prp.event.v2", "session.goal.updated", { goal: null }]
]

describe("a payload that is typed and open", () => {
  it.each(openPayloads)("keeps what is not known: %s, %s", (kind, eventType, payload) => {
    for (const stranger of [{}, ...strangers]) {
      const whole = Object.fromEntries([...Object.entries(payload), ...Object.entries(stranger)])
      expect(accepts(kind, { ...samples[kind], eventType, payload: whole }), JSON.stringify(stranger)).toBe(true)
    }
  })
})

/** In the order of names, so that texts can be compared. `__proto__` is a property like any other. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
