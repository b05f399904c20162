/**
 * How much of the log is kept, and for whom. Pure bookkeeping: it performs nothing.
 *
 * Events stay until there is no room for the next, and then as long as a peer has not acknowledged them; without any peer the
 * oldest go. The last part of the room is a reserve for what cannot wait.
 */

export interface RetentionOptions {
  /** Events up to this one are gone. */
  readonly prunedThrough: number
  /** Of those behind it. */
  readonly bytes: ReadonlyArray<number>
  /** What each peer has acknowledged. */
  readonly peers: ReadonlyMap<string, number>
  readonly bytesMax: number
  readonly reserveBytes: number
}

export interface Retention {
  /** Takes one more event, if there is room or some can be made. One that is larger than all of it is taken when it is empty. */
  readonly admit: (bytes: number, mayUseReserve: boolean) => boolean
  /** From now on the events so far may be pruned. */
  readonly committed: () => void
  readonly acknowledge: (peer: string, through: number | undefined) => void
  /** Makes so much room beside the reserve that some time will pass until there is none. */
  readonly relax: () => boolean
  readonly prunedThrough: () => number
  readonly retainedBytes: () => number
}

/** When it prunes, it makes room for this part of all more: pruning a little at a time costs more. */
const slackPart = 1 / 16

export const makeRetention = ({
  prunedThrough,
  bytes,
  peers: known,
  bytesMax,
  reserveBytes
}: RetentionOptions): Retention => {
  const peers = new Map(known)
  const slack = bytesMax * slackPart
  let sizes = [...bytes]
  let pruned = prunedThrough
  /** Sizes of events that are gone, at the front. */
  let gone = 0
  let retained = sizes.reduce((sum, size) => sum + size, 0)
  let committedThrough = pruned + sizes.length

  /** Drops the oldest while more than `bound` is kept and nobody waits for them. */
  const pruneTo = (bound: number) => {
    const through = Math.min(committedThrough, ...peers.values())
    while (retained > bound && pruned < through) {
      retained -= sizes[gone++] ?? 0
      pruned++
    }
    if (gone > sizes.length / 2) {
      sizes = sizes.slice(gone)
      gone = 0
    }
  }

  const admit = (size: number, mayUseReserve: boolean) => {
    const bound = (mayUseReserve ? bytesMax : bytesMax - reserveBytes) - size
    if (retained > bound) pruneTo(bound - slack)
    if (retained > bound && retained > 0) return false
    sizes.push(size)
    retained += size
    return true
  }

  return {
    admit,
    committed: () => {
      committedThrough = pruned + sizes.length - gone
    },
    acknowledge: (peer, through) => {
      if (through === undefined) peers.delete(peer)
      else peers.set(peer, through)
    },
    relax: () => {
      const bound = bytesMax - reserveBytes - slack
      pruneTo(bound)
      return retained <= bound
    },
    prunedThrough: () => pruned,
    retainedBytes: () => retained
  }
}
