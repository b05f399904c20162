/** The ledger of the simulated host, and those of other hosts with the processes that they started. */
import * as Effect from "effect/Effect"
import type { ForeignLedger, LedgerEntry, ProcessIdentity } from "../services/Os.ts"
import type { FakeProcesses } from "./fakeProcesses.ts"
import type { Habits } from "./habits.ts"

/** A host before this one, or beside it, and its launches of the `marked` backend. */
export interface FakeLedger {
  /** `elsewhere`: of another pid namespace, where its number says nothing. */
  readonly host: "gone" | "alive" | "elsewhere"
  /** The process that each launch left. */
  readonly launches: ReadonlyArray<Habits>
}

export const makeFakeLedgers = (scripts: ReadonlyArray<FakeLedger>, processes: FakeProcesses) => {
  const live = new Map<string, LedgerEntry>()
  const gone = new Set<string>()
  let foreign: ReadonlyArray<Omit<ForeignLedger, "hostGone" | "reason">> = []

  const startHost = (host: FakeLedger["host"]): ProcessIdentity => {
    const alive = host === "alive" ? processes.born({}, { role: "stranger" }) : undefined
    if (alive !== undefined) return alive.identity
    return { pid: 99, startTime: "0", bootId: "boot", pidNamespace: host === "gone" ? "host" : "other" }
  }
  const startOne = ({ host, launches }: FakeLedger, n: number) => {
    const markers = launches.map((_, index) => `foreign-${n}-${index}`)
    launches.forEach((habits, index) => {
      const marker = markers[index]
      if (host === "gone" && marker !== undefined) gone.add(marker)
      processes.born(habits, { role: "agent", launch: marker, marker, ledger: `hosts/${n}` })
    })
    const entries = markers.map((marker) => ({ marker, backend: "marked" as const, command: "x", identity: undefined }))
    return { host: startHost(host), path: `hosts/${n}`, entries, homes: [] }
  }
  const verdict = (host: ProcessIdentity): Pick<ForeignLedger, "hostGone" | "reason"> => {
    if (host.pidNamespace !== "host") return { hostGone: false, reason: "it is of another pid namespace" }
    const hostGone = processes.find(host.pid)?.identity.startTime !== host.startTime
    return { hostGone, reason: hostGone ? "its host has ended" : "its host is alive" }
  }

  return {
    start: () => {
      foreign = scripts.map(startOne)
    },
    own: () => [...live.keys()],
    paths: () => foreign.map(({ path }) => path),
    isOfGoneHost: (marker: string) => gone.has(marker),
    add: (entry: LedgerEntry) => Effect.sync(() => void live.set(entry.marker, entry)),
    remove: (marker: string) => Effect.sync(() => void live.delete(marker)),
    foreign: Effect.sync(() => foreign.map((ledger): ForeignLedger => ({ ...ledger, ...verdict(ledger.host) }))),
    forget: ({ path }: ForeignLedger) =>
      Effect.sync(() => {
        foreign = foreign.filter((ledger) => ledger.path !== path)
        return []
      })
  }
}
