/** How many events from the first on take so many bytes together; at least one. */
export const countWithin = (events: ReadonlyArray<{ readonly bytes: number }>, bytesMax: number): number => {
  let bytes = 0
  const past = events.findIndex((event, index) => (bytes += event.bytes) > bytesMax && index > 0)
  return past < 0 ? events.length : past
}
