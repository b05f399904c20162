/** The story of a run: which actors ran, what they handled, and what the program says of itself. No ids of fibers, no times. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { ActorCell } from "../actors/kernel/ActorCell.ts"
import { Self } from "../actors/kernel/Self.ts"

export class Story {
  readonly lines: Array<string> = []

  private readonly names = new Map<string, string>()
  private readonly started = new Set<string>()

  /** Minted ids are told apart by a number. */
  tell(line: string): void {
    const named = line.replaceAll(mintedId, (id, kind) => {
      const name = this.names.get(id) ?? `${kind}#${this.names.size + 1}`
      this.names.set(id, name)
      return name
    })
    if (this.lines.at(-1) !== named) this.lines.push(named)
  }

  /** A line when an actor starts, and when it has its turn with another message. */
  readonly observe = (fiber: Fiber.Fiber<unknown, unknown>): void => {
    const self = Context.getOrUndefined(fiber.context, Self)
    if (!(self instanceof ActorCell)) return
    if (!this.started.has(self.path)) {
      this.started.add(self.path)
      this.tell(`${self.path} starts`)
    }
    const message = fiber === self.fiber ? self.current?.message._tag : undefined
    if (message !== undefined) this.tell(`${self.path} ${message}`)
  }
}

/** As `Ids` makes them. */
const mintedId = /\b([a-z]+)_[0-9a-z]{24}\b/g

/** The story of this run; `undefined` unless it was asked for. */
export const CurrentStory = Context.Reference<Story | undefined>("greenroom/testing/Story", {
  defaultValue: () => undefined
})

/** Adds a line of the program's own to the story. Costs next to nothing when nobody wants it. */
export const narrate = (line: () => string): Effect.Effect<void> =>
  Effect.map(CurrentStory, (story) => story?.tell(line()))
