/**
 * Reading the log from a cursor: first what is stored, then what is committed, in one order.
 *
 * Guarantees: no gap and no repetition, for the reader's place is its cursor and nothing else; a reader that stands still costs
 * nothing and holds up nobody, until its cursor expires; one that looks for few events lets others run meanwhile. Bounds: what is
 * read at once.
 */
import * as Effect from "effect/Effect"
import { CursorBeyond, type CursorExpired, invariant, type JournalFailed, type StoreFailed } from "../schema/errors.ts"
import { limits } from "../schema/limits.ts"
import type { JournalStore, StoredEvent } from "../services/JournalStore.ts"

export interface FollowOptions {
  /** The number of the last event that the reader has; 0 for none. */
  readonly after: number
  /** Which events it gets. Default: all. */
  readonly matches?: (event: { readonly runId: string; readonly sessionId: string }) => boolean
}

export interface Reader {
  /** The next events, at least one; waits for them. If interrupted none is lost. One consumer. */
  readonly take: Effect.Effect<ReadonlyArray<StoredEvent>, CursorExpired | StoreFailed | JournalFailed>
}

/** What the journal tells its readers. */
export interface Log {
  readonly lastSeq: () => number
  readonly failure: () => JournalFailed | undefined
  /** Calls back once, when one of these changes. The result takes it back. */
  readonly onChange: (call: () => void) => () => void
}

export const openReader = (
  store: JournalStore["Service"],
  log: Log,
  { after, matches = () => true }: FollowOptions
): Effect.Effect<Reader, CursorBeyond | CursorExpired | StoreFailed> => {
  let cursor = after

  /** Not what is stored and not yet known to be: a peer that acknowledged it would be ahead of the journal. */
  const read = () =>
    store.read({
      after: cursor,
      eventsMax: Math.min(limits.journalReadEventsMax, log.lastSeq() - cursor),
      bytesMax: limits.journalReadBytesMax
    })

  const grown = Effect.callback<void, JournalFailed>((resume) => {
    if (cursor < log.lastSeq()) return resume(Effect.void)
    const failure = log.failure()
    if (failure !== undefined) return resume(Effect.fail(failure))
    const takeBack = log.onChange(() => resume(Effect.void))
    return Effect.sync(takeBack)
  })

  const take: Reader["take"] = Effect.suspend(() => {
    if (cursor >= log.lastSeq()) return Effect.andThen(grown, take)
    return Effect.flatMap(read(), (events) => {
      invariant(events.length > 0, "what is committed can be read", String(cursor))
      cursor = events.at(-1)?.seq ?? cursor
      const own = events.filter(matches)
      return own.length > 0 ? Effect.succeed(own) : Effect.andThen(Effect.yieldNow, take)
    })
  })

  return Effect.gen(function* () {
    if (after > log.lastSeq()) return yield* new CursorBeyond({ after, produced: log.lastSeq() })
    yield* store.read({ after, eventsMax: 1, bytesMax: 1 })
    return { take }
  })
}
