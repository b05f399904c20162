/**
 * Follows the events of a run on the screen, and keeps what is known of it.
 *
 * Guarantees: a slow reader of stdout makes the follower wait, and with it the agent; when the reader is gone, that is an
 * interrupt, and the rest is read without being shown.
 */
import * as Effect from "effect/Effect"
import type { Subscription } from "../actors/Journal.ts"
import type { Event } from "../schema/prp/event.ts"
import { jsonLine } from "./jsonLine.ts"
import type { Paint } from "./paint.ts"
import { newView, type Output, type View, viewed } from "./runView.ts"
import type { Screen } from "./screen.ts"
import type { Interrupts } from "./signals.ts"

export interface Follower {
  readonly view: () => View
  /** Waits for the reader of stdout. */
  readonly show: (events: ReadonlyArray<Event>) => Effect.Effect<void>
  /** Ends with the subscription. */
  readonly follow: (subscription: Subscription) => Effect.Effect<void>
}

export interface FollowerOptions {
  readonly screen: Screen
  readonly interrupts: Interrupts
  readonly paint: Paint
  readonly json: boolean
}

export const makeFollower = ({ screen, interrupts, paint, json }: FollowerOptions): Follower => {
  let view = newView
  let isRead = true

  const outputsOf = (event: Event): ReadonlyArray<Output> => {
    const [next, outputs] = viewed(view, event, paint)
    view = next
    return json
      ? [{ channel: "answer", text: jsonLine(event) }, ...outputs.filter(({ channel }) => channel === "notice")]
      : outputs
  }

  const print = (events: ReadonlyArray<Event>) => {
    const outputs = events.flatMap(outputsOf)
    return isRead ? screen.print(outputs) : Effect.void
  }

  const show = (events: ReadonlyArray<Event>) => Effect.catch(print(events), () => readerGone)

  const readerGone = Effect.suspend(() => {
    isRead = false
    return interrupts.raise("SIGPIPE")
  })

  return {
    view: () => view,
    show,
    follow: Effect.fnUntraced(function* (subscription) {
      for (;;) {
        const events = yield* subscription.take
        if (events === undefined) return
        yield* show(events)
      }
    })
  }
}
