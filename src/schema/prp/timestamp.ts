/** Points in time as PRP writes them: RFC 3339. */
import * as Schema from "effect/Schema"
import { limits } from "../limits.ts"

const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

export const Timestamp = Schema.String.check(
  Schema.makeFilter((text: string) => isTimestamp(text) || "Expected an RFC 3339 date and time")
)

const isTimestamp = (text: string): boolean => {
  if (text.length > limits.timestampCharactersMax) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (pattern.exec(text) ?? [])
    .slice(1)
    .map(Number)
  // The last minute of an hour may have a leap second.
  return (
    month >= 1 &&
    day >= 1 &&
    day <= daysIn(year, month) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= (minute === 59 ? 60 : 59)
  )
}

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : month <= 12 ? 31 : 0
}
