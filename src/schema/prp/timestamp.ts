/** Points in time as PRP writes them: RFC 3339. */
import * as Schema from "effect/Schema"
import { limits } from "../limits.ts"

const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

export const Timestamp = Schema.String.check(
  Schema.makeFilter((text: string) => isTimestamp(text) || "Expected an RFC 3339 date and time", {
    toJsonSchema: () => ({ format: "date-time", pattern: pattern.source, maxLength: limits.timestampCharactersMax })
  })
)

const isTimestamp = (text: string): boolean => {
  if (text.length > limits.timestampCharactersMax) return false
  const parts = pattern.exec(text)
  if (parts === null) return false
  const [, year, month, day, hour, minute, second] = parts.map(Number)
  return isDate(year, month, day) && isTime(hour, minute, second, offsetMinutes(parts))
}

const isDate = (year = 0, month = 0, day = 0): boolean => month >= 1 && day >= 1 && day <= daysIn(year, month)

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : month <= 12 ? 31 : 0
}

/** A leap second is the last one of a day in UTC. */
const isTime = (hour = 0, minute = 0, second = 0, offset = 0): boolean =>
  hour <= 23 &&
  minute <= 59 &&
  (second <= 59 || (second === 60 && (hour * 60 + minute - offset + minutesOfDay) % minutesOfDay === minutesOfDay - 1))

const minutesOfDay = 24 * 60

const offsetMinutes = ([, , , , , , , sign, hours = "0", minutes = "0"]: ReadonlyArray<string>): number =>
  (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
