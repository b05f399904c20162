/**
 * A runner with a real store and real agents behind a socket, which is killed right before or right after one of its commits.
 *
 * Its one argument is a `DaemonConfig` as JSON. It says `ready` on stdout when it listens, and names every commit on stderr
 * before it is made.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { serveControlPlane } from "../../src/actors/ControlConnection.ts"
import { Runs } from "../../src/actors/Runs.ts"
import * as Greenroom from "../../src/layers/Greenroom.ts"
import * as sqlite from "../../src/layers/store/sqlite.ts"
import { serveUnixSocket } from "../../src/layers/transport/unixSocket.ts"
import * as Ids from "../../src/services/Ids.ts"
import { type Change, JournalStore } from "../../src/services/JournalStore.ts"

export interface DaemonConfig {
  readonly folder: string
  /** `commit` counts from 1. */
  readonly kill?: KillPoint
}

export interface KillPoint {
  readonly commit: number
  readonly side: "before" | "after"
}

export const socketOf = (folder: string): string => path.join(folder, "run", "runner.sock")

/** What a commit is about. */
const nameOf = (change: Change): string => {
  switch (change._tag) {
    case "Event":
      return String(JSON.parse(change.json).eventType)
    case "Command":
      return `${change.entry.type} ${change.entry.status}`
    case "Peer":
      return "acknowledgement"
    case "Record":
      return change.value === undefined ? `${change.kind} forgotten` : `${change.kind} kept`
    default:
      return change._tag
  }
}

const killed = Effect.andThen(
  Effect.sync(() => process.kill(process.pid, "SIGKILL")),
  Effect.never
)

/** Commits come one at a time, so their count is the fault point. */
const withKill = (kill: KillPoint | undefined) =>
  Layer.effect(
    JournalStore,
    Effect.map(JournalStore, (store) => {
      let commits = 0
      return JournalStore.of({
        ...store,
        commit: (changes) =>
          Effect.suspend(() => {
            commits++
            fs.writeSync(2, `commit ${commits}: ${[...new Set(changes.map(nameOf))].join(", ")}\n`)
            if (commits !== kill?.commit) return store.commit(changes)
            return kill.side === "before" ? killed : Effect.andThen(store.commit(changes), killed)
          })
      })
    })
  )

const main = ({ folder, kill }: DaemonConfig) =>
  Effect.gen(function* () {
    const runs = yield* Runs
    yield* serveUnixSocket({
      path: socketOf(folder),
      serve: (channel) => serveControlPlane({ channel, authority: { _tag: "Operator" }, authorityEnded: Effect.never })
    })
    fs.writeSync(1, "ready\n")
    yield* runs.ended
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.merge(
        Greenroom.durable({
          hostEnv: process.env,
          store: Layer.provide(withKill(kill), sqlite.layer({ file: path.join(folder, "journal", "journal.sqlite") }))
        }),
        Ids.layer
      )
    )
  )

if (import.meta.main) {
  const [, , config = ""] = process.argv
  await Effect.runPromise(main(JSON.parse(config)))
  process.exit(0)
}
