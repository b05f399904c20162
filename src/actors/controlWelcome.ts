/** The first two frames of a connection: who is there, from where on it gets events, and what the runner is doing. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Authority, mayReach } from "../schema/authority.ts"
import { utf8Bytes } from "../schema/characters.ts"
import { limits } from "../schema/limits.ts"
import { negotiateVersion, supportedVersions } from "../schema/prp/rules/negotiation.ts"
import type { Hello, Welcome } from "../schema/prp/transportFrame.ts"
import type { RunStatus } from "../schema/run.ts"
import { version as runnerVersion } from "../schema/version.ts"
import { journalRefused, refused } from "./controlFeed.ts"
import { DurableJournal } from "./durableJournal.ts"
import { Journal } from "./Journal.ts"
import { companyPrefix, peerName } from "./peerNames.ts"
import { Runs } from "./Runs.ts"

/** The insides of a runner. */
export interface Inspection {
  readonly tree: ReadonlyArray<unknown>
  readonly processes: ReadonlyArray<unknown>
}

/** What a hello comes to. */
export interface Introduction {
  readonly version: number
  readonly peer: { readonly name: string; readonly acknowledged: number } | undefined
  readonly after: number
}

/** Fails where the two cannot speak with each other. Registers the peer. */
export const introduce = Effect.fnUntraced(function* (hello: Hello, authority: Authority) {
  const journal = yield* DurableJournal
  const { afterSourceSeq, name, protocolMax, protocolMin } = hello.payload
  const negotiated = negotiateVersion(supportedVersions, { min: protocolMin, max: protocolMax })
  if (Result.isFailure(negotiated)) {
    return yield* refused("versions_disjoint", "there is no common version", {
      protocolMin: supportedVersions.min,
      protocolMax: supportedVersions.max
    })
  }
  if (hello.runnerInstanceId !== null && hello.runnerInstanceId !== journal.sourceInstanceId) {
    return yield* refused("runner_instance_mismatch", "this is another runner", {
      runnerInstanceId: journal.sourceInstanceId
    })
  }
  const peer = name === null ? undefined : yield* register(journal, authority, name)
  const produced = (yield* Journal).sequence()
  const introduction: Introduction = {
    version: negotiated.success,
    peer,
    // What a peer has acknowledged it has, whatever it says now.
    after: peer === undefined ? (afterSourceSeq ?? produced) : Math.max(afterSourceSeq ?? 0, peer.acknowledged)
  }
  return introduction
})

const register = Effect.fnUntraced(function* (journal: DurableJournal["Service"], authority: Authority, name: string) {
  const peer = peerName(authority, name)
  const known = journal.peers.acknowledged()
  if (authority._tag === "Tenant" && !known.has(peer)) {
    const own = [...known.keys()].filter((other) => other.startsWith(companyPrefix(authority)))
    if (own.length >= limits.companyPeersMax) return yield* tooMany(limits.companyPeersMax)
  }
  const acknowledged = yield* Effect.catchTags(journal.peers.register(peer), {
    AcknowledgementRefused: () => tooMany(limits.journalPeersMax),
    JournalFailed: journalRefused
  })
  return { name: peer, acknowledged }
})

const tooMany = (limit: number) => refused("too_many_peers", "no further peer is registered", { limit })

export const welcomeOf = Effect.fnUntraced(function* (
  { after, version }: Introduction,
  authority: Authority,
  inspection: Inspection | undefined
) {
  const runs = yield* Runs
  const statuses = yield* runs.statuses
  const visible = statuses.filter(
    ({ companyId, runId, runState }) => runState !== "terminal" && mayReach(authority, runId, companyId)
  )
  const shown = newest(visible)
  const welcome: Welcome["payload"] = {
    selectedVersion: version,
    runnerVersion,
    runnerState: runs.runnerState(),
    authority,
    afterSourceSeq: after,
    producedSourceSeq: (yield* Journal).sequence(),
    runs: shown,
    runsOmitted: visible.length - shown.length,
    ...inspection
  }
  return welcome
})

/** As many as fit, in their order. */
const newest = (statuses: ReadonlyArray<RunStatus>): ReadonlyArray<RunStatus> => {
  const shown: Array<RunStatus> = []
  let bytes = 0
  for (const status of statuses.slice(-limits.welcomeRunsMax).toReversed()) {
    bytes += utf8Bytes(JSON.stringify(status))
    if (bytes > limits.welcomeRunsBytesMax) break
    shown.unshift(status)
  }
  return shown
}
