/** The table of actors of a run, which also tells what its actors died of and whose mailbox is over its bound. */
import * as Cause from "effect/Cause"
import type { ActorCell } from "../../../src/actors/kernel/ActorCell.ts"
import { ActorTable } from "../../../src/actors/kernel/Registry.ts"

/** A defect that a world brings about to see what becomes of it. */
export class PlantedDefect extends Error {
  override readonly name = "PlantedDefect"
}

interface Crash {
  readonly path: string
  readonly defect: unknown
}

export class WatchedTable extends ActorTable {
  /** Of actors that were not restarted, without the planted ones. */
  readonly crashes: Array<Crash> = []
  private readonly living = new Set<ActorCell>()

  override enter(cell: ActorCell): void {
    super.enter(cell)
    this.living.add(cell)
  }

  override leave(cell: ActorCell): void {
    super.leave(cell)
    this.living.delete(cell)
    for (const reason of cell.crashed?.reasons ?? []) {
      if (!Cause.isDieReason(reason) || reason.defect instanceof PlantedDefect) continue
      this.crashes.push({ path: cell.path, defect: reason.defect })
    }
  }

  /** Whether an actor lives whose path ends so. */
  lives(end: string): boolean {
    for (const { path } of this.living) if (path.endsWith(end)) return true
    return false
  }

  /** Living actors of requests below a session. */
  requestsOf(sessionId: string): number {
    let count = 0
    for (const { path } of this.living) {
      if (path.includes(`/session:${sessionId}/`) && path.includes("/request:")) count++
    }
    return count
  }

  /** Lanes with more messages and reservations than their bound. */
  overfull(): ReadonlyArray<string> {
    const found: Array<string> = []
    for (const { path, mailbox } of this.living) {
      for (const isControl of [false, true]) {
        const { admitted, reserved } = mailbox.lane(isControl)
        const held = admitted.size + reserved
        if (held > mailbox.capacity) found.push(`${path} holds ${held} messages of ${mailbox.capacity}`)
      }
    }
    return found
  }
}
