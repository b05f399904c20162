/** Reading JSON that an agent sent. Everything in it may be missing, `null` or of the wrong type. */

export type NativeObject = Readonly<Record<string, unknown>>

export const isNativeObject = (value: unknown): value is NativeObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** ACP treats `null` and absence alike: unchanged, or none. */
export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

/** Says nothing: absent, or an object or a list with nothing in it. */
export const isEmpty = (value: unknown): boolean =>
  isAbsent(value) || (typeof value === "object" && Object.keys(value).length === 0)

/** The value at the end of a path of keys, if every step is an object that owns the next key. */
export const nativeAt = (value: unknown, ...path: ReadonlyArray<string>): unknown => {
  let here = value
  for (const key of path) here = isNativeObject(here) && Object.hasOwn(here, key) ? here[key] : undefined
  return here
}
