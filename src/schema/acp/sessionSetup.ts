/**
 * The answers of `session/new`, `session/load` and `session/resume`: a session's id, modes and settings. Source: ACP v1,
 * session setup.
 */
import * as Schema from "effect/Schema"
import { list, maybe, record } from "./lenient.ts"

export const SessionModes = Schema.Struct({
  currentModeId: Schema.String,
  availableModes: list(
    Schema.Struct({ id: Schema.String, name: maybe(Schema.String), description: maybe(Schema.String) })
  )
})
export type SessionModes = typeof SessionModes.Type

/** One setting. `category` is `mode`, `model`, `thought_level` or a word of the agent's own. */
export const ConfigOption = Schema.Struct({
  id: Schema.String,
  name: maybe(Schema.String),
  description: maybe(Schema.String),
  category: maybe(Schema.String),
  /** `select` or `boolean`. */
  type: maybe(Schema.String),
  currentValue: maybe(Schema.Unknown),
  /** As they came: flat (`value`, `name`) or grouped (`group`, `options`). */
  options: maybe(Schema.Unknown)
})
export type ConfigOption = typeof ConfigOption.Type

const settings = {
  modes: maybe(SessionModes),
  /** As it came. Left ACP for a setting of category `model`; several agents still send it. */
  models: maybe(Schema.Unknown),
  configOptions: list(ConfigOption),
  /** Extensions, as they came. */
  _meta: maybe(Schema.Unknown)
}

export const NewSessionResult = Schema.Struct({ sessionId: Schema.String, ...settings })
export type NewSessionResult = typeof NewSessionResult.Type

/** Of `session/load` and `session/resume`, whose whole result may be `null`. */
export const RestoredSessionResult = record(settings)
export type RestoredSessionResult = typeof RestoredSessionResult.Type
