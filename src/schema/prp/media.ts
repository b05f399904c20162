/**
 * Content that is not text, by reference: what it is, where it is, and the digest of its bytes. The bytes themselves stand in
 * `debug.native` only.
 */
import { shortText } from "../characters.ts"
import { digestOf, digestOfBase64, type Digest } from "../identity.ts"
import { limits } from "../limits.ts"
import { redactLine } from "../redaction.ts"
import { isNativeObject, type NativeObject } from "./native.ts"
import { workspacePath } from "./workspacePath.ts"

/** One content block of the protocol that is not text, or of a type that is not known. */
export interface Media {
  readonly type: string
  readonly mimeType?: string
  /** Without credentials. A `data:` URI is content, and told by its digest. */
  readonly uri?: string
  readonly name?: string
  readonly title?: string
  /** As the agent says. */
  readonly sizeBytes?: number
  /** Of the decoded bytes, where the block holds them. */
  readonly digest?: Digest
}

export const mediaOf = (type: string, block: NativeObject): Media => {
  const source = type === "resource" && isNativeObject(block["resource"]) ? block["resource"] : block
  const { size, uri } = source
  const digest = digestIn(source)
  return {
    type: shortText(type, limits.nameCharactersMax),
    ...named(source, "mimeType"),
    ...(typeof uri !== "string" || uri === "" || isData(uri) ? {} : { uri: shownUri(uri) }),
    ...named(source, "name"),
    ...named(source, "title"),
    ...(typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? { sizeBytes: size } : {}),
    ...(digest === undefined ? {} : { digest })
  }
}

const named = (source: NativeObject, key: "mimeType" | "name" | "title") => {
  const value = source[key]
  return typeof value === "string" && value !== "" ? { [key]: shortText(value, limits.nameCharactersMax) } : {}
}

const isData = (uri: string): boolean => /^data:/i.test(uri)

/** Redacted before it is cut: half a secret has not the shape of one. */
const shownUri = (uri: string): string =>
  shortText(redactLine(uri.slice(0, 2 * limits.shortTextCharactersMax)), limits.shortTextCharactersMax)

const digestIn = ({ blob, data, text, uri }: NativeObject): Digest | undefined => {
  if (typeof data === "string") return digestOfBase64(data)
  if (typeof blob === "string") return digestOfBase64(blob)
  if (typeof text === "string") return digestOf(text)
  return typeof uri === "string" && isData(uri) ? digestOf(uri) : undefined
}

/** The path inside the workspace that a URI, or a plain path, names. */
export const fileOf = (uri: string, workspace: string): string | undefined => {
  if (uri.length > limits.urlCharactersMax) return undefined
  const path = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(uri)?.[1]
  const decoded = path === undefined ? uri : decodedPath(path)
  return decoded?.startsWith("/") ? workspacePath(decoded, workspace, limits.changedPathCharactersMax) : undefined
}

const decodedPath = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
