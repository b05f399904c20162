/** The file of one token: 0600, ours, and without the secret. What is not quite that is no token. */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Digest, StableId } from "../../schema/identity.ts"
import { limits } from "../../schema/limits.ts"
import { errorCode } from "../process/pipes.ts"
import { refusalOf } from "../store/privateFile.ts"

const TokenRecord = Schema.Struct({
  id: StableId,
  companyId: StableId,
  runIds: Schema.NullOr(Schema.Array(StableId).check(Schema.isMaxLength(limits.tokenRunIdsMax))),
  expiresAtMs: Schema.Int,
  /** Of the secret. */
  digest: Digest
})
export type TokenRecord = typeof TokenRecord.Type

const decodeText = Schema.decodeUnknownOption(Schema.fromJsonString(TokenRecord))

const suffix = ".json"

/** `id` is a stable id, in which there is no separator of paths. */
export const fileOf = (folder: string, id: string): string => path.join(folder, `${id}${suffix}`)

/** Never over a file that is there. Throws what Node throws; then nothing of it is left. */
export const writeTokenFile = (file: string, record: TokenRecord): void => {
  const descriptor = fs.openSync(file, "wx", 0o600)
  try {
    fs.writeFileSync(descriptor, JSON.stringify(record))
  } catch (error) {
    fs.rmSync(file, { force: true })
    throw error
  } finally {
    fs.closeSync(descriptor)
  }
}

/** `undefined`: there is none, or none that can be trusted. */
export const readTokenFile = (folder: string, id: string): TokenRecord | undefined => {
  const text = privateText(fileOf(folder, id))
  const record = text === undefined ? undefined : Option.getOrUndefined(decodeText(text))
  return record?.id === id ? record : undefined
}

const privateText = (file: string): string | undefined => {
  let descriptor: number | undefined
  try {
    descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
    const found = fs.fstatSync(descriptor)
    if (refusalOf(found, "file") !== undefined || found.size > limits.tokenFileBytesMax) return undefined
    return fs.readFileSync(descriptor, "utf8")
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor)
  }
}

/** `false`: there was none. Throws what Node throws. */
export const removeTokenFile = (folder: string, id: string): boolean => {
  try {
    fs.unlinkSync(fileOf(folder, id))
    return true
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false
    throw error
  }
}

const isStableId = Schema.is(StableId)

/** Sorted. Throws what Node throws. */
export const tokenIds = (folder: string): ReadonlyArray<string> =>
  fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .filter(isStableId)
    .sort()
