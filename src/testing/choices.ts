/** The source of all that a simulated run leaves open: from a seed, or from the recorded choices of an earlier run. */

/** One point where the run could have gone on in `of` ways, and took `pick`. */
export interface Choice {
  readonly of: number
  readonly pick: number
}

/** A uniform number in [0, 1), the same sequence for the same seed. */
export const seeded = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export class Choices {
  /** Every real choice so far; enough to take the same way again. */
  readonly trace: Array<Choice> = []
  private readonly random: () => number
  private readonly recorded: ReadonlyArray<number>

  /** Follows `recorded` as far as it goes, then the seed. */
  constructor(seed: number, recorded: ReadonlyArray<number>) {
    this.random = seeded(seed)
    this.recorded = recorded
  }

  /** One of `of` ways, numbered from 0. A single way is no choice. */
  pick(of: number): number {
    if (of <= 1) return 0
    const drawn = Math.floor(this.random() * of)
    const pick = Math.min(this.recorded[this.trace.length] ?? drawn, of - 1)
    this.trace.push({ of, pick })
    return pick
  }

  /** Whether something of this probability happens. What always or never does is no choice. */
  happens(probability: number): boolean {
    if (probability <= 0) return false
    if (probability >= 1) return true
    const drawn = this.random() < probability ? 1 : 0
    const pick = Math.min(this.recorded[this.trace.length] ?? drawn, 1)
    this.trace.push({ of: 2, pick })
    return pick === 1
  }
}
