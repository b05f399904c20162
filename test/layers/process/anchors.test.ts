import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { beforeEach, describe, vi } from "vitest"
import { makeAnchors } from "../../../src/layers/process/anchors.ts"
import { limits } from "../../../src/schema/limits.ts"
import { identityOf } from "../../services/fakeLaunch.ts"
import { type FakeChild, makeFakeChild, turnsOfLoop } from "./fakeChild.ts"

const world = vi.hoisted(() => ({
  started: new Array<FakeChild>(),
  /** What a holder does once it was started. */
  begin: (_holder: FakeChild): void => undefined
}))

vi.mock("../../../src/layers/process/child.ts", () => ({
  spawnChild: () =>
    Effect.sync(() => {
      const holder = makeFakeChild()
      holder.stdin.on("close", holder.end)
      world.started.push(holder)
      world.begin(holder)
      return holder
    })
}))
vi.mock("../../../src/layers/process/procfs.ts", () => ({
  childOf: () => 1,
  commandLine: () => "anchor",
  isInit: () => true,
  pidNamespace: () => "1"
}))
vi.mock("../../../src/layers/process/tools.ts", () => ({
  locateTool: (name: string) => Result.succeed(`/bin/${name}`),
  shell: "/bin/sh",
  toolEnvironment: () => ({})
}))

const comesUp = (holder: FakeChild) => void holder.stdout.write("up\n")
const saysNothing = () => undefined
const endsSilently = (holder: FakeChild) => void holder.stdout.end()

beforeEach(() => void world.started.splice(0))

const anchorsOf = (begin: (holder: FakeChild) => void) => {
  world.begin = begin
  return makeAnchors((pid) => Effect.succeed(identityOf(pid)))
}

/** The reason for which no anchor could be had, as soon as there is one. */
const refusal = (begin: (holder: FakeChild) => void) =>
  Effect.gen(function* () {
    const anchors = yield* anchorsOf(begin)
    return yield* Effect.forkChild(Effect.map(Effect.flip(anchors.take), ({ reason }) => reason))
  })

describe("an anchor", () => {
  it.effect("must come up in time, and its holder is ended when it does not", () =>
    Effect.gen(function* () {
      const refused = yield* refusal(saysNothing)
      yield* TestClock.adjust(limits.anchorReadyMs - 1)
      expect(refused.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust(1)
      expect(refused.pollUnsafe()).toMatchObject({ value: "the anchor did not come up in time" })
      expect(world.started[0]?.stdin.destroyed).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("that ends without a word is not waited for any longer than a bound", () =>
    Effect.gen(function* () {
      const refused = yield* refusal(endsSilently)
      yield* turnsOfLoop
      yield* TestClock.adjust(limits.anchorComplaintMs - 1)
      expect(refused.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust(1)
      expect(refused.pollUnsafe()).toMatchObject({ value: "the anchor ended at once" })
    }).pipe(Effect.scoped)
  )

  it.effect("that ends is heard when it says why within the bound", () =>
    Effect.gen(function* () {
      const refused = yield* refusal(endsSilently)
      yield* turnsOfLoop
      yield* TestClock.adjust(limits.anchorComplaintMs - 1)
      world.started[0]?.stderr.write("unshare: Operation not permitted\nmore\n")
      yield* turnsOfLoop
      expect(refused.pollUnsafe()).toMatchObject({ value: "unshare: Operation not permitted" })
    }).pipe(Effect.scoped)
  )

  it.effect("is made for the next launch a while after the last was taken, and not at once", () =>
    Effect.gen(function* () {
      const anchors = yield* anchorsOf(comesUp)
      const taking = yield* Effect.forkChild(anchors.take)
      yield* turnsOfLoop
      expect(taking.pollUnsafe()).toBeDefined()
      yield* TestClock.adjust(limits.anchorRefillPauseMs - 1)
      expect(world.started).toHaveLength(1)
      yield* TestClock.adjust(1)
      yield* turnsOfLoop
      expect(world.started).toHaveLength(2)
      yield* anchors.take
      expect(world.started).toHaveLength(2)
    }).pipe(Effect.scoped)
  )
})
