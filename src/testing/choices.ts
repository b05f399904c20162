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

/** What decides where the recorded choices end: the seed, or always the first way. */
export type Thereafter = "seed" | "first"

export class Choices {
  /** Every real choice so far; enough to take the same way again. */
  readonly trace: Array<Choice> = []
  private readonly random: () => number
  private readonly recorded: ReadonlyArray<number>

  /** Follows `recorded` as far as it goes. */
  constructor(seed: number, recorded: ReadonlyArray<number>, thereafter: Thereafter) {
    this.random = thereafter === "seed" ? seeded(seed) : () => 0
    this.recorded = recorded
  }

  /** One of `of` ways, numbered from 0. A single way is no choice. */
  pick(of: number): number {
    if (of <= 1) return 0
    return this.take(of, Math.floor(this.random() * of))
  }

  /** Whether something of this probability happens. What always or never does is no choice. */
  happens(probability: number): boolean {
    if (probability <= 0) return false
    if (probability >= 1) return true
    // Not happening is the first way.
    return this.take(2, 1 - this.random() <= probability ? 1 : 0) === 1
  }

  private take(of: number, drawn: number): number {
    const pick = Math.min(this.recorded[this.trace.length] ?? drawn, of - 1)
    this.trace.push({ of, pick })
    return pick
  }
}
