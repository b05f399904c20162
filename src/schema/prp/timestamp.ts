/** Points in time as PRP writes them: RFC 3339. */
import * as Schema from "effect/Schema"
import { limits } from "../limits.ts"

const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

export const Timestamp = Schema.String.check(
  Schema.makeFilter((text: string) => isTimestamp(text) || "Expected an RFC 3339 date and time", {
    toJsonSchema: () => ({ format: "date-time", pattern: pattern.source, maxLength: limits.timestampCharactersMax })
  })
)

/** Every part but the fraction stands at its place, and is read there: this is asked of every event. */
const isTimestamp = (text: string): boolean =>
  text.length <= limits.timestampCharactersMax && pattern.test(text) && isDate(text) && isTime(text)

const isDate = (text: string): boolean => {
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  return month >= 1 && day >= 1 && day <= daysIn(twoDigits(text, 0) * 100 + twoDigits(text, 2), month)
}

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : month <= 12 ? 31 : 0
}

/** A leap second is the last one of a day in UTC. */
const isTime = (text: string): boolean => {
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  if (hour > 23 || minute > 59 || second > 60) return false
  return second <= 59 || (hour * 60 + minute - offsetMinutes(text) + minutesOfDay) % minutesOfDay === minutesOfDay - 1
}

const minutesOfDay = 24 * 60

/** `Z`, or a sign, hours and minutes at the end. */
const offsetMinutes = (text: string): number => {
  if (/z$/i.test(text)) return 0
  const minutes = twoDigits(text, text.length - 5) * 60 + twoDigits(text, text.length - 2)
  return text.at(-6) === "-" ? -minutes : minutes
}

const twoDigits = (text: string, at: number): number => digit(text, at) * 10 + digit(text, at + 1)

const digit = (text: string, at: number): number => text.charCodeAt(at) - 0x30
