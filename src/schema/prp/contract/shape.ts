/** How large a parsed value is, without going further than to the bound that is asked about. */

/** Whether the value holds at most `valuesMax` values, however they are nested. */
export const valuesFit = (value: unknown, valuesMax: number): boolean => {
  const left = [value]
  let seen = 0
  for (let next = left.pop(); left.length > 0 || next !== undefined; next = left.pop()) {
    seen += 1
    if (seen + left.length > valuesMax) return false
    if (typeof next !== "object" || next === null) continue
    // A list of a million numbers must not be copied to learn that it is long.
    if (Array.isArray(next) && seen + left.length + next.length > valuesMax) return false
    for (const inner of Object.values(next)) left.push(inner)
  }
  return true
}
