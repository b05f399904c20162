/** Choices from a seed. */
import { seeded } from "../../src/testing/choices.ts"

export interface Random {
  /** A whole number from 0 up to, not including, `below`. */
  readonly integer: (below: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <Item>(items: readonly [Item, ...ReadonlyArray<Item>]) => Item
  /** Undefined of an empty list. */
  readonly any: <Item>(items: ReadonlyArray<Item>) => Item | undefined
}

export const randomOf = (seed: number): Random => {
  const next = seeded(seed)
  const integer = (below: number) => Math.floor(next() * below)
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(items.length)] ?? items[0],
    any: (items) => items[integer(items.length)]
  }
}
