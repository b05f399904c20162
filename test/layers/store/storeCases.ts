/** What every store does: one list of cases, run over each. A case is given the store anew after each of its steps. */
import { expect } from "vitest"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { CursorExpired, type StoreFailed } from "../../../src/schema/errors.ts"
import { limits } from "../../../src/schema/limits.ts"
import type { CommandEntry } from "../../../src/schema/prp/rules/commandJournal.ts"
import type { Change, JournalStore, Loaded, StoredEvent, StoredRecord } from "../../../src/services/JournalStore.ts"

type Store = JournalStore["Service"]

export interface StoreCase {
  readonly steps: ReadonlyArray<Step>
}

/** Each in a life of its own: the store is closed and opened again between two. */
type Step =
  | { readonly commit: ReadonlyArray<Change> }
  | { readonly loads: Partial<Loaded> }
  | {
      readonly after: number
      readonly eventsMax?: number
      readonly bytesMax?: number
      readonly reads: ReadonlyArray<number> | { readonly expired: number }
    }

export const event = (seq: number, more: Partial<StoredEvent> = {}): Change => {
  const json = more.json ?? JSON.stringify({ sourceSeq: seq, text: "grüße \ud83d\ude00 \u0000" })
  return { _tag: "Event", seq, priority: 1, runId: "r1", sessionId: "s1", json, bytes: json.length, ...more }
}

export const events = (first: number, last: number): ReadonlyArray<Change> =>
  Array.from({ length: last - first + 1 }, (_, n) => event(first + n))

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)

const entry = (controllerSeq: number, status: CommandEntry["status"], result: unknown = null): CommandEntry => ({
  commandId: `c${controllerSeq}`,
  controllerSeq,
  type: "turn.start",
  fingerprint: `sha256:${"0".repeat(64)}`,
  status,
  result
})

const command = (stream: string, of: CommandEntry, compactedThrough = 0): Change => ({
  _tag: "Command",
  stream,
  entry: of,
  compactedThrough
})

const stored = (kind: StoredRecord["kind"], id: string): StoredRecord => ({ kind, id, value: { id } })

const open = (kind: StoredRecord["kind"], id: string): Change => ({ _tag: "Record", ...stored(kind, id) })

const closed = (kind: StoredRecord["kind"], id: string): Change => ({ _tag: "Record", kind, id, value: undefined })

export const storeCases: Readonly<Record<string, StoreCase>> = {
  "a new store has nothing": {
    steps: [
      {
        loads: {
          sourceInstanceId: undefined,
          lastSeq: 0,
          prunedThrough: 0,
          bytes: [],
          peers: new Map(),
          commands: new Map(),
          requests: [],
          records: []
        }
      },
      { after: 0, reads: [] }
    ]
  },
  "the name of the source stays": {
    steps: [{ commit: [{ _tag: "Source", sourceInstanceId: "runner_1" }] }, { loads: { sourceInstanceId: "runner_1" } }]
  },
  "events come back in their order, text for text": {
    steps: [
      { commit: events(1, 3) },
      { commit: [event(4, { bytes: 7, priority: 0, runId: "r2", sessionId: "s2", json: '"x"' })] },
      { loads: { lastSeq: 4, prunedThrough: 0 } },
      { after: 0, reads: [1, 2, 3, 4] },
      { after: 2, reads: [3, 4] },
      { after: 4, reads: [] }
    ]
  },
  "a commit of many rows is whole": {
    steps: [{ commit: events(1, 200) }, { after: 0, eventsMax: 1000, reads: upTo(200) }, { loads: { lastSeq: 200 } }]
  },
  "a reader gets at most so many events": {
    steps: [
      { commit: events(1, 10) },
      { after: 0, eventsMax: 4, reads: [1, 2, 3, 4] },
      { after: 4, eventsMax: 100, reads: [5, 6, 7, 8, 9, 10] }
    ]
  },
  "a reader gets at most so many bytes, and one larger event alone": {
    steps: [
      { commit: upTo(4).map((seq) => event(seq, { bytes: 10 })) },
      { after: 0, bytesMax: 30, reads: [1, 2, 3] },
      { after: 0, bytesMax: 29, reads: [1, 2] },
      { after: 0, bytesMax: 9, reads: [1] }
    ]
  },
  "a cursor before what was pruned has expired": {
    steps: [
      { commit: events(1, 10) },
      { commit: [...events(11, 12), { _tag: "Pruned", through: 4 }] },
      { loads: { lastSeq: 12, prunedThrough: 4 } },
      { after: 4, reads: upTo(12, 5) },
      { after: 3, reads: { expired: 5 } },
      { commit: [{ _tag: "Pruned", through: 2 }] },
      { loads: { prunedThrough: 4 } }
    ]
  },
  "the last number is known when all events are pruned": {
    steps: [
      { commit: events(1, 5) },
      { commit: [{ _tag: "Pruned", through: 5 }] },
      { loads: { lastSeq: 5, prunedThrough: 5, bytes: [] } },
      { after: 5, reads: [] },
      { after: 0, reads: { expired: 6 } },
      { commit: [event(6)] },
      { after: 5, reads: [6] }
    ]
  },
  "sizes are those of the events that are there": {
    steps: [
      { commit: upTo(5).map((seq) => event(seq, { bytes: seq * 10 })) },
      { commit: [{ _tag: "Pruned", through: 2 }] },
      { loads: { bytes: [30, 40, 50] } }
    ]
  },
  "peers are kept, moved and forgotten": {
    steps: [
      {
        commit: [
          { _tag: "Peer", peer: "a", acknowledged: 0 },
          { _tag: "Peer", peer: "b", acknowledged: 3 }
        ]
      },
      {
        commit: [
          { _tag: "Peer", peer: "a", acknowledged: 9 },
          { _tag: "Peer", peer: "b", acknowledged: undefined }
        ]
      },
      { loads: { peers: new Map([["a", 9]]) } }
    ]
  },
  "the commands of a stream are forgotten, and only they": {
    steps: [
      { commit: [command("x", entry(1, "completed")), command("y", entry(1, "pending"))] },
      {
        commit: [
          { _tag: "CommandsForgotten", stream: "x" },
          { _tag: "CommandsForgotten", stream: "z" }
        ]
      },
      { loads: { commands: new Map([["y", { lastSeq: 1, compactedThrough: 0, entries: [entry(1, "pending")] }]]) } }
    ]
  },

  "commands are kept per stream, changed in place, and compacted": {
    steps: [
      { commit: [command("x", entry(1, "pending")), command("y", entry(1, "pending"))] },
      { commit: [command("x", entry(1, "completed", { ok: true })), command("x", entry(2, "pending"))] },
      { commit: [command("x", entry(3, "rejected"), 1)] },
      {
        loads: {
          commands: new Map([
            ["x", { lastSeq: 3, compactedThrough: 1, entries: [entry(2, "pending"), entry(3, "rejected")] }],
            ["y", { lastSeq: 1, compactedThrough: 0, entries: [entry(1, "pending")] }]
          ])
        }
      }
    ]
  },
  "a result as large as it may be is kept": {
    steps: [
      { commit: [command("x", entry(1, "completed", "r".repeat(limits.commandResultBytesMax - 2)))] },
      {
        loads: {
          commands: new Map([
            [
              "x",
              {
                lastSeq: 1,
                compactedThrough: 0,
                entries: [entry(1, "completed", "r".repeat(limits.commandResultBytesMax - 2))]
              }
            ]
          ])
        }
      }
    ]
  },
  "requests are open until they are not": {
    steps: [
      {
        commit: [
          { _tag: "Request", requestId: "q1", created: { a: 1 } },
          { _tag: "Request", requestId: "q2", created: null }
        ]
      },
      { commit: [{ _tag: "Request", requestId: "q1", created: undefined }] },
      { loads: { requests: [{ requestId: "q2", created: null }] } }
    ]
  },
  "one request may come and go in one commit": {
    steps: [
      {
        commit: [
          { _tag: "Request", requestId: "q1", created: {} },
          { _tag: "Request", requestId: "q1", created: undefined }
        ]
      },
      { loads: { requests: [] } }
    ]
  },
  "records are told apart by kind and id, replaced and removed": {
    steps: [
      {
        commit: [
          { _tag: "Record", kind: "run", id: "1", value: { state: "open" } },
          { _tag: "Record", kind: "turn", id: "1", value: 7 }
        ]
      },
      {
        commit: [
          { _tag: "Record", kind: "run", id: "1", value: { state: "closed" } },
          { _tag: "Record", kind: "turn", id: "1", value: undefined }
        ]
      },
      { loads: { records: [{ kind: "run", id: "1", value: { state: "closed" } }] } }
    ]
  },
  "what an event opens and what another ends comes and goes with their commits": {
    steps: [
      { commit: [event(1), open("session", "s1"), event(2), open("turn", "s1/t1")] },
      { loads: { lastSeq: 2, records: [stored("session", "s1"), stored("turn", "s1/t1")] } },
      { commit: [event(3), closed("turn", "s1/t1"), event(4), open("turn", "s1/t2"), closed("turn", "s1/t2")] },
      { commit: [event(5), closed("session", "another"), open("session", "s1")] },
      { loads: { lastSeq: 5, records: [stored("session", "s1")] } },
      { commit: [event(6), closed("session", "s1"), closed("session", "s1")] },
      { loads: { lastSeq: 6, records: [] } }
    ]
  },
  "an empty commit changes nothing": {
    steps: [{ commit: events(1, 2) }, { commit: [] }, { loads: { lastSeq: 2 } }, { after: 0, reads: [1, 2] }]
  }
}

/** `inLife` opens the store, runs the effect, and closes it. */
export const playCase = async (
  { steps }: StoreCase,
  inLife: <A>(effect: (store: Store) => Effect.Effect<A, StoreFailed>) => Promise<A>,
  exitOf: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<Exit.Exit<A, E>>
): Promise<void> => {
  const committed = new Map<number, StoredEvent>()
  for (const step of steps) {
    if ("commit" in step) {
      for (const change of step.commit) {
        if (change._tag !== "Event") continue
        const { _tag, ...stored } = change
        committed.set(change.seq, stored)
      }
      await inLife((store) => store.commit(step.commit))
    } else if ("loads" in step) {
      expect(await inLife((store) => store.load)).toMatchObject(step.loads)
    } else {
      const { after, bytesMax = 1_000_000, eventsMax = 100, reads } = step
      const exit = await inLife((store) => exitOf(store.read({ after, eventsMax, bytesMax })))
      if ("expired" in reads) {
        expect(exit).toEqual(Exit.fail(new CursorExpired({ after, oldest: reads.expired })))
      } else {
        expect(exit).toEqual(Exit.succeed(reads.map((seq) => committed.get(seq))))
      }
    }
  }
}
