import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe, it as plain } from "vitest"
import { Envelope, type EnvelopeKind } from "../../../src/actors/kernel/Envelope.ts"
import { Mailbox } from "../../../src/actors/kernel/Mailbox.ts"
import { InvariantViolated } from "../../../src/schema/errors.ts"

const dispatcher = { scheduleTask: (task: () => void) => task(), flush: () => undefined }

const envelope = (kind: EnvelopeKind, id: number, log: Array<string> = []) =>
  new Envelope(kind, { _tag: String(id) }, () => log.push(`${kind} ${id} completed`))

describe("a mailbox", () => {
  plain("has a capacity of at least one", () => {
    for (const capacity of [0, -1, 1.5, Number.NaN, Infinity]) {
      expect(() => new Mailbox(capacity, dispatcher)).toThrow(InvariantViolated)
    }
  })

  plain("admits a tell when there is room for it, and completes its sender then", () => {
    const log: Array<string> = []
    const mailbox = new Mailbox(1, dispatcher)
    const lane = mailbox.lane(false)
    expect(mailbox.offer(lane, envelope("tell", 1, log))).toBe(true)
    expect(mailbox.offer(lane, envelope("tell", 2, log))).toBe(false)
    lane.waiting.push(envelope("tell", 3, log))
    expect(log).toEqual(["tell 1 completed"])
    expect(mailbox.take()?.message._tag).toBe("1")
    expect(log).toEqual(["tell 1 completed", "tell 3 completed"])
  })

  plain("wakes its one waiter once", () => {
    let woken = 0
    const mailbox = new Mailbox(4, dispatcher)
    mailbox.park(() => woken++)
    expect(() => mailbox.park(() => undefined)).toThrow()
    mailbox.offer(mailbox.lane(false), envelope("tell", 1))
    mailbox.offer(mailbox.lane(false), envelope("tell", 2))
    expect(woken).toBe(1)
  })

  const Operation = Schema.Literals(["send", "sendControl", "reserve", "use", "release", "take", "withdraw"])

  it.effect.prop(
    "agrees with a model: order, bound, admission and withdrawal",
    { capacity: Schema.Literals([1, 2, 3]), operations: Schema.Array(Operation) },
    ({ capacity, operations }) =>
      Effect.sync(() => {
        const mailbox = new Mailbox(capacity, dispatcher)
        const model = new Model(capacity)
        const sent: Array<Envelope> = []
        operations.forEach((operation, id) => {
          const control = operation === "sendControl"
          const lane = mailbox.lane(control)
          if (operation === "send" || control) {
            const message = envelope("ask", id)
            sent.push(message)
            if (!mailbox.offer(lane, message)) lane.waiting.push(message)
            model.send(id, control)
          } else if (operation === "reserve") {
            expect(mailbox.offer(lane, envelope("reserve", id))).toBe(model.reserve())
          } else if (operation === "use" && lane.reserved > 0) {
            lane.reserved--
            mailbox.admit(lane, envelope("tell", id))
            model.use(id)
          } else if (operation === "release" && lane.reserved > 0) {
            lane.reserved--
            mailbox.refill(lane)
            model.release()
          } else if (operation === "take") {
            expect(mailbox.take()?.message._tag).toBe(model.take()?.toString())
          } else if (operation === "withdraw" && sent.length > 0) {
            const message = sent[id % sent.length]!
            expect(mailbox.withdraw(message)).toBe(model.withdraw(Number(message.message._tag)))
          }
          expect(mailbox.depth).toBe(model.depth)
          expect(lane.admitted.size + lane.reserved).toBeLessThanOrEqual(capacity)
        })
        const left = [...mailbox.drain()].map((message) => Number(message.message._tag))
        expect(left).toEqual(model.left)
        expect(mailbox.depth).toBe(0)
      }),
    { arbitrary: { runs: 500, size: 40 } }
  )
})

/** The same in arrays. */
class Model {
  private readonly capacity: number
  private readonly lanes = { control: this.lane(), data: this.lane() }

  constructor(capacity: number) {
    this.capacity = capacity
  }

  private lane(): { admitted: Array<number>; waiting: Array<number>; reserved: number } {
    return { admitted: [], waiting: [], reserved: 0 }
  }

  private refill(): void {
    for (const lane of [this.lanes.control, this.lanes.data]) {
      while (lane.waiting.length > 0 && lane.admitted.length + lane.reserved < this.capacity) {
        lane.admitted.push(lane.waiting.shift()!)
      }
    }
  }

  send(id: number, control: boolean): void {
    this.lanes[control ? "control" : "data"].waiting.push(id)
    this.refill()
  }

  reserve(): boolean {
    const lane = this.lanes.data
    if (lane.admitted.length + lane.reserved >= this.capacity) return false
    lane.reserved++
    return true
  }

  use(id: number): void {
    this.lanes.data.reserved--
    this.lanes.data.admitted.push(id)
  }

  release(): void {
    this.lanes.data.reserved--
    this.refill()
  }

  take(): number | undefined {
    const id = this.lanes.control.admitted.shift() ?? this.lanes.data.admitted.shift()
    this.refill()
    return id
  }

  withdraw(id: number): boolean {
    for (const list of [this.lanes.control, this.lanes.data].flatMap((lane) => [lane.admitted, lane.waiting])) {
      const index = list.indexOf(id)
      if (index === -1) continue
      list.splice(index, 1)
      this.refill()
      return true
    }
    return false
  }

  get left(): ReadonlyArray<number> {
    const { control, data } = this.lanes
    return [...control.admitted, ...control.waiting, ...data.admitted, ...data.waiting]
  }

  get depth(): number {
    return this.left.length
  }
}
