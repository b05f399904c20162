/** Whoever reads the log and stands still costs nothing, however much goes by. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as durable from "../../src/actors/durableJournal.ts"
import { Journal } from "../../src/actors/Journal.ts"
import type { Reader } from "../../src/actors/journalReader.ts"
import * as memory from "../../src/layers/store/memory.ts"
import { CursorExpired } from "../../src/schema/errors.ts"
import * as Ids from "../../src/services/Ids.ts"
import type { StoredEvent } from "../../src/services/JournalStore.ts"
import { heapUsed } from "../heap.ts"
import { delta, entry, started } from "./durableHost.ts"

const updates = 1_000_000
const perAppend = 64
const measurements = 20
const MiB = 1024 * 1024
/** The log with what is around it, and what is under way. */
const growthMax = 32 * MiB + 4 * MiB

const layer = durable.layer().pipe(Layer.provide([Ids.layer, memory.layer]))

/** Pieces of two items in turns, which are never joined. */
const appendAll = Effect.gen(function* () {
  const journal = yield* Journal
  const draining = Latch.makeUnsafe(false)
  for (let first = 0; first < updates; first += perAppend) {
    const pieces = Array.from({ length: perAppend }, (_, n) => delta(`w${first + n} `, `i${n % 2}`))
    yield* journal.append(entry(pieces), draining)
  }
})

const updateOf = ({ json }: StoredEvent): number | undefined => {
  const at = json.indexOf(`"text":"w`)
  return at < 0 ? undefined : Number.parseInt(json.slice(at + 9, at + 20), 10)
}

/** Reads from this event to the last update, without a gap in either; answers the update that came first. */
const readAll = Effect.fnUntraced(function* (
  reader: Reader,
  firstSeq: number,
  taken: (through: number) => Effect.Effect<void, unknown> = () => Effect.void
) {
  let seq = firstSeq
  let first: number | undefined
  let next: number | undefined
  while (next !== updates) {
    for (const event of yield* reader.take) {
      if (event.seq !== seq) throw new Error(`${event.seq} comes in the place of ${seq}`)
      seq++
      const update = updateOf(event)
      // An event of the journal itself.
      if (update === undefined) continue
      first ??= update
      if (update !== (next ?? update)) throw new Error(`update ${update} comes in the place of ${next}`)
      next = update + 1
    }
    yield* taken(seq - 1)
  }
  return first
})

it.effect(
  `who stands still holds up nobody, holds no memory, and is told where to go on, behind ${updates} updates`,
  () =>
    Effect.gen(function* () {
      const { follow, peers, prunedThrough } = yield* durable.DurableJournal
      expect(yield* peers.register("peer")).toBe(0)
      const [stalled, reader] = [yield* follow({ after: 0 }), yield* follow({ after: 0 })]
      yield* (yield* Journal).force(entry([started()]))
      expect((yield* stalled.take).map(({ seq }) => seq)).toEqual([1])

      const before = heapUsed()
      const growths: Array<number> = []
      const acknowledge = (through: number) => {
        if (through >= (growths.length + 1) * (updates / measurements)) growths.push(heapUsed() - before)
        return peers.acknowledge("peer", through)
      }
      const [, first] = yield* Effect.all([appendAll, readAll(reader, 1, acknowledge)], { concurrency: "unbounded" })
      expect(first).toBe(0)
      expect(growths.length).toBe(measurements)
      expect(Math.max(...growths)).toBeLessThanOrEqual(growthMax)

      const oldest = prunedThrough() + 1
      expect(yield* Effect.flip(stalled.take)).toEqual(new CursorExpired({ after: 1, oldest }))
      expect(yield* readAll(yield* follow({ after: oldest - 1 }), oldest)).toBeGreaterThan(updates / 2)
    }).pipe(Effect.provide(layer)),
  120_000
)
