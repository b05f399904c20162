/** Services with a bug: what a world puts between the runner and a service to see that the ledger finds it. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { AnswerSlot } from "../../../src/actors/answerSlot.ts"
import type { Connection, Entry } from "../../../src/actors/Connection.ts"
import type { Claim } from "../../../src/actors/Connections.ts"
import type * as Journal from "../../../src/actors/Journal.ts"
import { encodeFrame } from "../../../src/schema/acp/frame.ts"
import type { EventDraft } from "../../../src/schema/prp/event.ts"
import { noticeDraft } from "../../../src/schema/prp/notices.ts"
import { isTurnTerminal } from "../../../src/schema/prp/terminals.ts"
import { yields } from "./agent.ts"
import type { Faults } from "./host.ts"
import { waitUpwards } from "./plantedModules.ts"

type Service = Journal.Journal["Service"]

const forcing =
  (force: (journal: Service, entry: Journal.Entry) => Effect.Effect<void>) => (): Pick<Faults, "journal"> => ({
    journal: (journal) => ({ ...journal, force: (entry) => force(journal, entry) })
  })

const appending =
  (append: (journal: Service, entry: Journal.Entry, go: Effect.Effect<number>) => Effect.Effect<number>) =>
  (): Pick<Faults, "journal"> => ({
    journal: (journal) => ({
      ...journal,
      append: (entry, draining) => append(journal, entry, journal.append(entry, draining))
    })
  })

export const terminalTwice = forcing((journal, entry) => {
  const drafts = entry.drafts.filter(isTurnTerminal)
  const again = drafts.length > 0 ? journal.force({ ...entry, drafts }) : Effect.void
  return Effect.andThen(again, journal.force(entry))
})

export const noTerminal = forcing((journal, entry) =>
  journal.force({ ...entry, drafts: entry.drafts.filter((draft) => !isTurnTerminal(draft)) })
)

const saidBehind = (is: (draft: EventDraft) => boolean) =>
  forcing((journal, entry) => {
    const { turnId } = entry
    const id = { id: "late", ...(turnId === undefined ? {} : { turnId }) }
    const late = noticeDraft({ ...id, category: "late", severity: "info", summary: "late" })
    const again = entry.drafts.some(is) ? journal.force({ ...entry, drafts: [late] }) : Effect.void
    return Effect.andThen(journal.force(entry), again)
  })

export const afterTerminal = saidBehind(isTurnTerminal)
export const afterClosed = saidBehind(({ eventType }) => eventType === "session.closed")

export const submittedLate = (): Faults => {
  let held: Journal.Entry | undefined
  const late = forcing((journal, entry) => {
    if (entry.drafts.some(({ eventType }) => eventType === "turn.submitted")) {
      return Effect.sync(() => void (held = entry))
    }
    const behind = held
    held = undefined
    return Effect.andThen(journal.force(entry), behind === undefined ? Effect.void : journal.force(behind))
  })
  return late()
}

/** Takes its time. */
export const slow = appending((_, __, go) => Effect.andThen(yields(40), go))

/** Leaves out the last event of every larger batch. */
export const lossy = (): Faults => ({
  journal: (journal) => ({
    ...journal,
    append: (entry, draining) => journal.append({ ...entry, drafts: entry.drafts.slice(0, 1) }, draining)
  })
})

/** A turn appends in its own fiber. */
export const turnWaitsUpwards = appending((_, { turnId }, go) =>
  turnId === undefined ? go : Effect.andThen(Effect.ignore(waitUpwards), go)
)

export const turnDies = appending((_, { turnId }, go) =>
  turnId === undefined ? go : Effect.die(new TypeError("an own defect"))
)

const claiming = (change: (claim: Claim) => Claim) => (): Faults => ({
  connections: (connections) => ({
    ...connections,
    claim: (name, launch) => Effect.map(connections.claim(name, launch), change)
  })
})

const taking = (change: (entry: Entry, connection: Connection) => ReadonlyArray<Entry>) =>
  claiming((claim) => ({
    ...claim,
    take: Effect.map(claim.take, (batch) =>
      batch === undefined
        ? undefined
        : { ...batch, entries: batch.entries.flatMap((one) => change(one, claim.connection)) }
    )
  }))

export const wordsTwice = taking((entry) => (entry._tag === "Update" ? [entry, entry] : [entry]))

/** What an agent says last of a prompt is handed on with what it says of the next one. */
export const wordsLate = (): Faults => {
  let held: ReadonlyArray<Entry> = []
  const late = taking((entry) => {
    if (entry._tag === "Response") return [...held.slice(1), entry]
    if (entry._tag === "Asked") return [entry, ...held.slice(0, 1)]
    if (entry._tag !== "Update") return [entry]
    const before = held
    held = [entry]
    return before
  })
  return late()
}

/** Answer slots that can be used again. */
export const slotsTwice = taking((entry, connection) => [reusable(entry, connection)])

const reusable = (entry: Entry, { link }: Connection): Entry => {
  if (entry._tag !== "Request") return entry
  const { slot } = entry
  let isUsed = false
  const answer: AnswerSlot["answer"] = (reply) =>
    Effect.suspend(() => {
      const frame = encodeFrame({ jsonrpc: "2.0", id: slot.nativeId, ...reply })
      if (isUsed && frame instanceof Uint8Array) return Effect.as(Effect.ignore(link.write(frame)), "written" as const)
      isUsed = true
      return slot.answer(reply)
    })
  return {
    ...entry,
    slot: { ...slot, answer, answerSafely: answer({ result: { outcome: { outcome: "cancelled" } } }) }
  }
}

/** Connections that cannot be retired. */
export const neverRetires = claiming((claim) => ({
  ...claim,
  connection: { ...claim.connection, retire: () => Effect.void }
}))

/** The end of one connection is the end of all. */
export const endsAll = (): Faults => {
  const all: Array<Connection> = []
  const ends = claiming((claim) => {
    all.push(claim.connection)
    const retireAll = Effect.forEach(all, (one) => one.retire("retired"))
    return {
      ...claim,
      take: Effect.tap(claim.take, (batch) => (batch?.entries.at(-1)?._tag === "Closed" ? retireAll : Effect.void))
    }
  })
  return ends()
}

/** Claims that nobody's scope closes. */
export const claimsForEver = (): Faults => ({
  connections: (connections) => ({
    ...connections,
    claim: (name, launch) => Scope.provide(connections.claim(name, launch), Scope.makeUnsafe())
  })
})

/** Folders that nobody's scope deletes. */
export const foldersForEver = (): Faults => ({
  provider: (provider) => ({
    ...provider,
    launch: (options) => Scope.provide(provider.launch(options), Scope.makeUnsafe())
  })
})

const writing = (change: (frame: object) => object) => (): Faults => ({
  link: (link) => ({
    ...link,
    write: (bytes) => {
      const frame: unknown = JSON.parse(new TextDecoder().decode(bytes))
      const changed = typeof frame === "object" && frame !== null ? encodeFrame(change(frame)) : bytes
      return link.write(changed instanceof Uint8Array ? changed : bytes)
    }
  })
})

/** Answers with the id as a text, whatever it was. */
export const idsAsText = writing((frame) =>
  "id" in frame && !("method" in frame) ? { ...frame, id: String(frame.id) } : frame
)

/** Cancels whatever session. */
export const cancelsAnother = writing((frame) =>
  "method" in frame && frame.method === "session/cancel" ? { ...frame, params: { sessionId: "another" } } : frame
)

/** A write to a dead agent goes on. */
export const writesForEver = (): Faults => ({
  link: (link) => ({
    ...link,
    write: (bytes) => Effect.catchTag(link.write(bytes), "StdinClosed", () => Effect.never)
  })
})
