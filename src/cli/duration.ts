/** Durations as people type and read them. */

/** `500ms`, `90s`, `5m`, `1.5h`, or plain seconds. `undefined`: none of these, or not more than nothing. */
export const durationMsOf = (text: string): number | undefined => {
  const [, amount, unit = "s"] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text.trim()) ?? []
  const ms = Number(amount) * (unitMs[unit] ?? Number.NaN)
  return ms >= 1 ? Math.round(ms) : undefined
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** To the tenth of a second below a minute, to the second above. */
export const durationText = (ms: number): string => {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const rest = `${String(seconds % 60).padStart(2, "0")} s`
  return minutes < 60
    ? `${minutes} min ${rest}`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min ${rest}`
}
