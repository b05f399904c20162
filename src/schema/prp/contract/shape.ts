/** How large and how deeply nested a parsed value is, without going further than to the bound that is asked about. */
import { limits } from "../../limits.ts"

/** Whether the value is nested at most `frameDepthMax` levels, so that whoever writes it as JSON does not overflow. */
export const nestingFits = (value: unknown): boolean => fitsLevels(value, limits.frameDepthMax)

const fitsLevels = (value: unknown, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((inner) => fitsLevels(inner, levels - 1)))

/** Whether the value holds at most `valuesMax` values, however they are nested. */
export const valuesFit = (value: unknown, valuesMax: number): boolean => {
  const left = [value]
  let seen = 0
  for (let next = left.pop(); left.length > 0 || next !== undefined; next = left.pop()) {
    seen += 1
    if (seen + left.length > valuesMax) return false
    if (typeof next === "object" && next !== null) for (const inner of Object.values(next)) left.push(inner)
  }
  return true
}
