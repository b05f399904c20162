import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { beforeEach, describe, vi } from "vitest"
import { makeGuardian } from "../../../src/layers/process/guardian.ts"
import { limits } from "../../../src/schema/limits.ts"
import { type FakeChild, makeFakeChild, turnsOfLoop } from "./fakeChild.ts"

const started = vi.hoisted((): Array<FakeChild> => [])

vi.mock("../../../src/layers/process/child.ts", () => ({
  spawnChild: () =>
    Effect.sync(() => {
      const child = makeFakeChild()
      started.push(child)
      return child
    })
}))

beforeEach(() => void started.splice(0))

describe("the guardian", () => {
  it.effect("that ends is replaced after a pause, as long as there is a marker to guard", () =>
    Effect.gen(function* () {
      const guardian = yield* makeGuardian
      yield* guardian.watch("a")
      started[0]?.end()
      yield* TestClock.adjust(limits.guardianReplacePauseMs - 1)
      expect(started).toHaveLength(1)
      yield* TestClock.adjust(1)
      yield* turnsOfLoop
      expect(started).toHaveLength(2)
      expect(String(started[1]?.stdin.read())).toBe("+ a\n")
      yield* guardian.forget("a")
      started[1]?.end()
      yield* TestClock.adjust(limits.guardianReplacePauseMs)
      expect(started).toHaveLength(2)
    }).pipe(Effect.scoped)
  )

  it.effect("without markers is waited for at the end of its host, up to a bound", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const guardian = yield* Scope.provide(makeGuardian, scope)
      yield* guardian.watch("a")
      yield* guardian.forget("a")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust(limits.guardianCloseMs - 1)
      expect(closing.pollUnsafe()).toBeUndefined()
      expect(started[0]?.stdin.writableEnded).toBe(true)
      yield* TestClock.adjust(1)
      expect(closing.pollUnsafe()).toBeDefined()
    })
  )
})
