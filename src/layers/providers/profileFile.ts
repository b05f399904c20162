/**
 * Providers from the user's own file, `greenroom.json`:
 *
 *     { "agents": { "kiro": { "command": ["kiro-cli", "acp"] } } }
 *
 * The file is the user's and is never looked for in a workspace: who can write it decides what is started. What it does not
 * say about an agent is unknown. Any mistake refuses the whole file and names its place; the values are not repeated.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { ProfileInvalid } from "../../schema/errors.ts"
import { limits } from "../../schema/limits.ts"
import { isLoaderVariable } from "../../services/environment.ts"
import type { HostEnvironment, Provider } from "../../services/Provider.ts"
import { configFolder } from "../folders.ts"
import { catalogue } from "./catalogue.ts"
import { providerOf, unknownTraits } from "./profile.ts"

/** `$XDG_CONFIG_HOME/greenroom/greenroom.json` or `~/.config/greenroom/greenroom.json`. */
export const profileFilePath = (host: HostEnvironment): string => join(configFolder(host), "greenroom.json")

/** A file that does not exist has no profiles. */
export const readProfiles = (file: string): Effect.Effect<ReadonlyArray<Provider>, ProfileInvalid> =>
  Effect.tryPromise({
    try: async () => {
      const found = await stat(file).catch(() => undefined)
      if (found === undefined) return undefined
      return found.size > limits.profileFileBytesMax ? tooLarge : await readFile(file, "utf8")
    },
    catch: () => refusal(file, "", "the file cannot be read")
  }).pipe(
    Effect.flatMap((text) => {
      if (text === undefined) return Effect.succeed([])
      if (text === tooLarge) return Effect.fail(refusal(file, "", `more than ${limits.profileFileBytesMax} bytes`))
      return Effect.fromResult(parseProfiles(text, file))
    })
  )

/** `file` only names it in the failure. */
export const parseProfiles = (text: string, file: string): Result.Result<ReadonlyArray<Provider>, ProfileInvalid> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return Result.fail(refusal(file, "", "not JSON"))
  }
  return Result.mapBoth(decodeFile(value), {
    onFailure: (error) => firstIssue(file, error.issue),
    onSuccess: (decoded) => Object.entries(decoded.agents).map(([id, profile]) => providerFromProfile(id, profile))
  })
}

const tooLarge = Symbol("too large")

const Text = Schema.NonEmptyString.check(
  Schema.makeFilter((text) => !text.includes("\0"), { expected: "text without NUL" })
)

const VariableName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]*$/, { expected: "the name of a variable" }),
  Schema.makeFilter((name) => !isLoaderVariable(name), { expected: "no loader variable" })
)

const GraceMs = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: limits.profileGraceMsMax }))

const Gate = Schema.Literals(["asks", "silent", "sandboxed", "unknown"])

const known = new Set(["command", ...catalogue.map((entry) => entry.id)])

const Id = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9-]{0,39}$/, { expected: "an id of small letters, digits and -, at most 40" }),
  Schema.makeFilter((id) => !known.has(id), { expected: "an id that is not built in" })
)

const UserProfile = Schema.Struct({
  command: Schema.NonEmptyArray(Text).check(Schema.isMaxLength(limits.commandWordsMax)),
  name: Schema.optionalKey(Text),
  /** Plain values. A secret does not belong in a file: name it in `credentials`. */
  env: Schema.optionalKey(Schema.Record(VariableName, Schema.String)),
  /** Variables of the host that pass to every launch of this agent. */
  credentials: Schema.optionalKey(Schema.Array(VariableName)),
  gate: Schema.optionalKey(
    Schema.Struct({
      edit: Schema.optionalKey(Gate),
      execute: Schema.optionalKey(Gate),
      fetch: Schema.optionalKey(Gate),
      mcp: Schema.optionalKey(Gate)
    })
  ),
  toolKindTrusted: Schema.optionalKey(Schema.Boolean),
  closesToolsOnCancel: Schema.optionalKey(Schema.Boolean),
  graces: Schema.optionalKey(
    Schema.Struct({
      cancelMs: Schema.optionalKey(GraceMs),
      eofMs: Schema.optionalKey(GraceMs),
      termMs: Schema.optionalKey(GraceMs),
      killMs: Schema.optionalKey(GraceMs)
    })
  )
})

const ProfileFile = Schema.Struct({
  agents: Schema.Record(Id, UserProfile).check(Schema.isMaxProperties(limits.profilesMax))
})

const decodeFile = Schema.decodeUnknownResult(ProfileFile, { onExcessProperty: "error" })

const providerFromProfile = (id: string, profile: typeof UserProfile.Type): Provider => {
  const [executable, ...args] = profile.command
  const { env = {}, credentials = [], gate, name, command: _, ...traits } = profile
  return providerOf({
    id,
    name: name ?? id,
    commands: [executable],
    args,
    traits: { ...traits, gate: { ...unknownTraits.gate, ...gate } },
    start: () => ({ env, credentials })
  })
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const firstIssue = (file: string, issue: SchemaIssue.Issue): ProfileInvalid => {
  const [first] = formatIssue(issue).issues
  const path = (first?.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment))
  return refusal(file, path.join("."), first?.message ?? "not a profile")
}

const refusal = (file: string, path: string, reason: string) => new ProfileInvalid({ file, path, reason })
