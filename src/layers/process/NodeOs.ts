/**
 * `Os` on Node: the process table of the platform, the two backends, the ledger of this host.
 *
 * Library manners: no signal handlers; the helpers it starts do not keep the host alive; nothing is started before the first
 * use. When the layer is released, the guardian ends, and the ledger goes if nothing is left.
 */
import * as crypto from "node:crypto"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BackendUnavailable, PlatformUnsupported } from "../../schema/errors.ts"
import { type Backend, type BackendProbe, Os, type SpawnRequest } from "../../services/Os.ts"
import { type Anchors, makeAnchors } from "./anchors.ts"
import { stateFolder } from "../folders.ts"
import { type Guardian, makeGuardian } from "./guardian.ts"
import { makeLedger } from "./ledger.ts"
import { linuxTable } from "./linuxTable.ts"
import { locateCommand } from "./locateCommand.ts"
import { spawnMarked } from "./marked.ts"
import { type NamespaceLaunch, spawnInNamespace } from "./namespace.ts"
import { probe } from "./probe.ts"
import { isSame, type ProcessTable } from "./ProcessTable.ts"
import { psTable } from "./psTable.ts"

export interface NodeOsOptions {
  /** Where hosts keep their ledgers; by default `greenroom/hosts` in the user's folder for state. */
  readonly ledgerFolder?: string
}

/** Fails with `PlatformUnsupported` on Windows, on an old Node, and where processes cannot be looked at. */
export const layer = (options: NodeOsOptions = {}): Layer.Layer<Os, PlatformUnsupported> =>
  Layer.effect(
    Os,
    Effect.gen(function* () {
      const table = yield* processTable
      const guardian = yield* makeGuardian
      const unique = `${table.host.pid}-${crypto.randomUUID()}`
      const ledger = yield* makeLedger(options.ledgerFolder ?? defaultLedgerFolder(), unique, table)
      const anchors = yield* makeAnchors(table.identify)
      const backends = yield* makeBackends(table, anchors)
      const launches = makeLaunches(table, guardian, anchors)
      return Os.of({
        backends: backends.all,
        backend: (asked) =>
          Effect.map(Effect.all([backends.choose(asked), ledger.prepare], { concurrency: 2 }), ([backend]) => backend),
        spawn: launches.spawn,
        readIdentity: table.readIdentity,
        signal: table.signal,
        census: launches.census,
        ledger: {
          add: ledger.add,
          remove: (marker) => Effect.andThen(launches.forget(marker), ledger.remove(marker)),
          foreign: ledger.foreign,
          forget: ledger.forget
        }
      })
    })
  )

/** Where hosts keep their ledgers unless told otherwise. */
const defaultLedgerFolder = (): string => path.join(stateFolder(process.env), "hosts")

export const nodeVersionMin = [22, 19] as const

/** Whether this Node can run us. */
export const isNodeSupported = (version: string): boolean => {
  const [major = 0, minor = 0] = version.replace("v", "").split(".").map(Number)
  return major > nodeVersionMin[0] || (major === nodeVersionMin[0] && minor >= nodeVersionMin[1])
}

const processTable: Effect.Effect<ProcessTable, PlatformUnsupported> = Effect.suspend(() => {
  const { platform, version } = process
  if (platform === "win32")
    return new PlatformUnsupported({ platform, reason: "processes cannot be owned here: there is no POSIX system" })
  if (!isNodeSupported(version))
    return new PlatformUnsupported({
      platform,
      reason: `Node ${nodeVersionMin.join(".")} or later is needed, not ${version}`
    })
  return platform === "linux" ? Effect.fromResult(linuxTable()) : psTable
})

/** Each backend is probed once, when it is first needed. */
const makeBackends = Effect.fnUntraced(function* (table: ProcessTable, anchors: Anchors) {
  const probed = (backend: Backend) =>
    Effect.cached(Effect.suspend(() => probe(backend, { table, anchors, marker: `probe_${crypto.randomUUID()}` })))
  const namespace = yield* process.platform === "linux"
    ? probed("namespace")
    : Effect.succeed(Effect.succeed<BackendProbe>({ backend: "namespace", usable: false, reason: "needs Linux" }))
  const marked = yield* probed("marked")
  const usable = (one: BackendProbe) =>
    one.usable ? Effect.succeed(one.backend) : new BackendUnavailable({ backend: one.backend, reason: one.reason })

  const choose = (asked?: Backend) => {
    if (asked !== undefined) return Effect.flatMap(asked === "namespace" ? namespace : marked, usable)
    return Effect.catch(Effect.flatMap(namespace, usable), () => Effect.flatMap(marked, usable))
  }
  return { all: Effect.all([namespace, marked]), choose }
})

/** The launches of this host, and what its backends must know of the live ones. */
const makeLaunches = (table: ProcessTable, guardian: Guardian, anchors: Anchors) => {
  const namespaces = new Map<string, NamespaceLaunch>()

  const spawn = Effect.fnUntraced(function* (asked: SpawnRequest) {
    const request = { ...asked, cwd: path.resolve(asked.cwd) }
    const file = yield* Effect.fromResult(locateCommand(request))
    if (request.backend === "marked") return yield* spawnMarked(request, file, guardian, table.identify)
    const launch = yield* spawnInNamespace(request, file, anchors)
    namespaces.set(request.marker, launch)
    return launch.process
  }, Effect.uninterruptible)

  const isAnchored = (launch: NamespaceLaunch) =>
    Effect.map(
      table.readIdentity(launch.process.identity.pid),
      (anchor) => anchor !== undefined && isSame(anchor, launch.process.identity)
    )
  /** The kernel gives the number of a namespace to the next one as soon as it is gone: it only counts while the anchor lives. */
  const census = Effect.fnUntraced(function* (marker: string) {
    const own = namespaces.get(marker)
    const byMarker = table.census({ marker, pidNamespace: undefined, isHelper: own?.isHelper ?? never })
    if (own === undefined || !(yield* isAnchored(own))) return yield* byMarker
    const found = yield* table.census({ marker, pidNamespace: own.inode, isHelper: own.isHelper })
    return (yield* isAnchored(own)) ? found : yield* byMarker
  })
  const forget = (marker: string) =>
    Effect.andThen(
      Effect.sync(() => namespaces.delete(marker)),
      guardian.forget(marker)
    )
  return { spawn, census, forget }
}

const never = () => false
