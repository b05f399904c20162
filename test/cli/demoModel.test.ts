import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { startDemoModel } from "../../src/cli/demoModel.ts"
import { limits } from "../../src/schema/limits.ts"
import { type AgentLink, AgentLinks, type CleanupReport } from "../../src/services/AgentLink.ts"

const report: CleanupReport = {
  exit: { _tag: "Code", code: 0 },
  steps: [],
  proof: "in-process",
  processesSeen: 1,
  survivors: []
}

/** A model that says this, and then nothing. */
const saying = (pull: AgentLink["pull"]) =>
  AgentLinks.of({
    open: () =>
      Effect.succeed({
        pull,
        write: () => Effect.void,
        end: Effect.void,
        exit: Effect.never,
        identity: undefined,
        backend: "in-process",
        stderrTail: () => [],
        close: Effect.succeed(report),
        kill: Effect.succeed(report)
      })
  })

const started = (pull: AgentLink["pull"]) =>
  startDemoModel.pipe(Effect.scoped, Effect.provideService(AgentLinks, saying(pull)))

const address = new TextEncoder().encode('{"origin":"http://127.0.0.1:4100"}\n')

describe("the demo model", () => {
  it.effect("is there once it has named its address", () =>
    Effect.gen(function* () {
      const late = Effect.as(Effect.sleep(limits.demoModelReadyMs - 1), address)
      const starting = yield* Effect.forkChild(started(late))
      yield* TestClock.adjust(limits.demoModelReadyMs - 1)
      expect(starting.pollUnsafe()).toMatchObject({ value: { origin: "http://127.0.0.1:4100" } })
    })
  )

  it.effect("that does not name its address in time is given up", () =>
    Effect.gen(function* () {
      const starting = yield* Effect.forkChild(Effect.flip(started(Effect.never)))
      yield* TestClock.adjust(limits.demoModelReadyMs - 1)
      expect(starting.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust(1)
      expect(starting.pollUnsafe()).toMatchObject({ value: { code: "provider_setup_failed", agent: "demo-model" } })
    })
  )

  it.effect("that says something else is none", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(started(Effect.succeed(new TextEncoder().encode("hello\n"))))
      expect(error.code).toBe("provider_setup_failed")
    })
  )
})
