/**
 * A store in memory: for tests, and for hosts that want replay and acknowledgements but no disk. What it keeps is as large as
 * what the journal does not prune.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CursorExpired } from "../../schema/errors.ts"
import { type CommandEntry, emptyJournal } from "../../schema/prp/rules/commandJournal.ts"
import {
  type Change,
  JournalStore,
  type Loaded,
  type ReadOptions,
  type StoredEvent,
  type StoredRecord
} from "../../services/JournalStore.ts"
import { countWithin } from "./countWithin.ts"

/** Empty at first, and gone with the layer. */
export const layer: Layer.Layer<JournalStore> = Layer.sync(JournalStore)(() => JournalStore.of(makeMemoryStore()))

/** Outlives its holder, as a file does. */
export const makeMemoryStore = (): JournalStore["Service"] => {
  let sourceInstanceId: string | undefined
  let prunedThrough = 0
  let events: Array<StoredEvent> = []
  const peers = new Map<string, number>()
  const streams = new Map<string, Stream>()
  const requests = new Map<string, string>()
  const records = new Map<string, string>()

  const apply = (change: Change): void => {
    switch (change._tag) {
      case "Source":
        sourceInstanceId = change.sourceInstanceId
        return
      case "Event": {
        const { _tag, ...event } = change
        events.push(event)
        return
      }
      case "Pruned":
        events = events.slice(Math.max(0, change.through - prunedThrough))
        prunedThrough = Math.max(prunedThrough, change.through)
        return
      case "Peer":
        if (change.acknowledged === undefined) peers.delete(change.peer)
        else peers.set(change.peer, change.acknowledged)
        return
      case "Command": {
        const { compactedThrough, entry, stream } = change
        const entries = new Map(streams.get(stream)?.entries).set(entry.controllerSeq, JSON.stringify(entry))
        for (const seq of entries.keys()) if (seq <= compactedThrough) entries.delete(seq)
        streams.set(stream, { compactedThrough, entries })
        return
      }
      case "CommandsForgotten":
        streams.delete(change.stream)
        return
      case "Request":
        keep(requests, change.requestId, change.created)
        return
      case "Record":
        keep(records, JSON.stringify([change.kind, change.id]), change.value)
    }
  }

  const loaded = (): Loaded => ({
    sourceInstanceId,
    lastSeq: prunedThrough + events.length,
    prunedThrough,
    bytes: events.map((event) => event.bytes),
    peers: new Map(peers),
    commands: new Map([...streams].map(([stream, stored]) => [stream, journalOf(stored)])),
    requests: [...requests].map(([requestId, created]) => ({ requestId, created: JSON.parse(created) })),
    records: [...records].map(([key, value]) => recordOf(key, value))
  })

  const read = ({ after, bytesMax, eventsMax }: ReadOptions) => {
    if (after < prunedThrough) return Effect.fail(new CursorExpired({ after, oldest: prunedThrough + 1 }))
    const found = events.slice(after - prunedThrough, after - prunedThrough + eventsMax)
    return Effect.succeed(found.slice(0, countWithin(found, bytesMax)))
  }

  return {
    load: Effect.sync(loaded),
    commit: (changes) => Effect.sync(() => changes.forEach(apply)),
    read: (options) => Effect.suspend(() => read(options))
  }
}

interface Stream {
  readonly compactedThrough: number
  readonly entries: ReadonlyMap<number, string>
}

/** As text, as a file has it: nobody can change it later. */
const keep = (kept: Map<string, string>, key: string, value: unknown): void => {
  if (value === undefined) kept.delete(key)
  else kept.set(key, JSON.stringify(value))
}

const journalOf = ({ compactedThrough, entries }: Stream) => ({
  ...emptyJournal,
  compactedThrough,
  lastSeq: Math.max(compactedThrough, ...entries.keys()),
  entries: [...entries.values()].map((text): CommandEntry => JSON.parse(text))
})

const recordOf = (key: string, value: string): StoredRecord => {
  const [kind, id]: [StoredRecord["kind"], string] = JSON.parse(key)
  return { kind, id, value: JSON.parse(value) }
}
