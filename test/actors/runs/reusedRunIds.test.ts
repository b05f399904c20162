import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { DurableJournal } from "../../../src/actors/durableJournal.ts"
import { Journal } from "../../../src/actors/Journal.ts"
import { Runs } from "../../../src/actors/Runs.ts"
import type { Authority } from "../../../src/schema/authority.ts"
import { limits } from "../../../src/schema/limits.ts"
import { controllerOf, makeHost, prepare } from "./controller.ts"

const tenant = (companyId: string): Authority => ({ _tag: "Tenant", companyId, runIds: null })

/** A run of theirs that has ended. */
const ended = (companyId: string, runId: string) =>
  Effect.gen(function* () {
    const controller = controllerOf(runId, { authority: tenant(companyId) })
    yield* controller.send("run.prepare", prepare)
    return yield* controller.send("run.cancel")
  })

/** Everything older is beyond what is remembered. */
const manyOf = (companyId: string, prefix: string) =>
  Effect.forEach([...Array(limits.rememberedRunsMax + 1).keys()], (n) => ended(companyId, `${prefix}${n}`), {
    discard: true
  })

const produced = Effect.map(Journal, (journal) => journal.sequence())

const inHost = <A, E>(test: Effect.Effect<A, E, Runs | DurableJournal | Journal>) =>
  Effect.suspend(() => makeHost().inLife(test))

describe("a run id that is used again", { timeout: 60_000 }, () => {
  it.effect("shows its new company nothing of the run that had it before", () =>
    inHost(
      Effect.gen(function* () {
        const runs = yield* Runs
        yield* ended("acme", "r1")
        const last = yield* produced
        expect(runs.isVisible(tenant("acme"), "r1", last)).toBe(true)
        yield* manyOf("other", "x")
        expect(yield* ended("other", "r1")).toMatchObject({ status: "completed" })
        for (let seq = 1; seq <= last; seq++) expect(runs.isVisible(tenant("other"), "r1", seq)).toBe(false)
        expect(runs.isVisible(tenant("other"), "r1", yield* produced)).toBe(true)
        expect(runs.isVisible(tenant("acme"), "r1", yield* produced)).toBe(false)
      })
    )
  )

  it.effect("is free only when the peers of its company have read everything of the run", () =>
    inHost(
      Effect.gen(function* () {
        const runs = yield* Runs
        const { peers } = yield* DurableJournal
        yield* peers.register("company/acme/reader")
        yield* ended("acme", "r1")
        const last = yield* produced
        yield* manyOf("other", "x")
        yield* peers.acknowledge("company/acme/reader", last - 1)
        yield* ended("other", "one-more")
        expect(runs.isVisible(tenant("acme"), "r1", last)).toBe(true)
        yield* peers.acknowledge("company/acme/reader", last)
        yield* ended("other", "last")
        expect(runs.isVisible(tenant("acme"), "r1", last)).toBe(false)
      })
    )
  )
})
