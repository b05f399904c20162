import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { mkdir, utimes } from "node:fs/promises"
import { agentsFolder } from "../../../src/layers/providers/agentCache.ts"
import { install } from "../../../src/layers/providers/install.ts"
import { npmFailure } from "../../../src/layers/providers/npm.ts"
import type { AgentInstallFailed } from "../../../src/schema/errors.ts"
import { limits } from "../../../src/schema/limits.ts"
import { content, distribution, loopbackRegistry, type LoopbackRegistry } from "./LoopbackRegistry.ts"
import { placeFile } from "./temporary.ts"

const installFrom = (registry: LoopbackRegistry, changes: Partial<typeof distribution> = {}) =>
  install("test", { ...distribution, ...changes }, registry.host)

const left = (registry: LoopbackRegistry): ReadonlyArray<string> => {
  const folder = agentsFolder(registry.host)
  return existsSync(folder) ? readdirSync(folder) : []
}

describe("install", () => {
  it.live("fetches the executable, checks it, and does so once", () =>
    Effect.gen(function* () {
      const registry = yield* loopbackRegistry()
      const installed = yield* installFrom(registry)
      assert.deepInclude(installed, { version: "1.2.3", verified: true })
      assert.strictEqual(readFileSync(installed.executable, "utf8"), content)
      assert.deepStrictEqual(left(registry), ["test-1.2.3"])
      assert.strictEqual((statSync(agentsFolder(registry.host)).mode & 0o777).toString(8), "700")
      registry.close()
      assert.deepStrictEqual(yield* installFrom(registry), installed)
    })
  )

  it.live("says that nothing is known where the hash is not", () =>
    Effect.gen(function* () {
      const registry = yield* loopbackRegistry()
      assert.isFalse((yield* installFrom(registry, { sha256: { "other-platform": "0" } })).verified)
    })
  )

  it.live("runs no script of the package", () =>
    Effect.gen(function* () {
      const registry = yield* loopbackRegistry({ scripts: { postinstall: 'touch "$HOME/ran"' } })
      yield* installFrom(registry)
      assert.isFalse(existsSync(`${registry.folder}/ran`))
    })
  )

  it.live("makes one folder when two install at once", () =>
    Effect.gen(function* () {
      const registry = yield* loopbackRegistry()
      const [one, two] = yield* Effect.all([installFrom(registry), installFrom(registry)], { concurrency: 2 })
      assert.deepStrictEqual(one, two)
      assert.deepStrictEqual(left(registry), ["test-1.2.3"])
    })
  )

  it.live("deletes what a killed install left a day ago, and nothing younger", () =>
    Effect.gen(function* () {
      const registry = yield* loopbackRegistry()
      const agents = agentsFolder(registry.host)
      const nowMs = Date.now()
      const age = (name: string, ageMs: number) =>
        Effect.promise(async () => {
          await mkdir(`${agents}/${name}`, { recursive: true })
          await utimes(`${agents}/${name}`, (nowMs - ageMs) / 1000, (nowMs - ageMs) / 1000)
        })
      yield* age(".partial-old", limits.installAbandonedMs + 60_000)
      yield* age(".partial-young", limits.installAbandonedMs - 60_000)
      yield* age("other-1.0.0", limits.installAbandonedMs + 60_000)
      yield* installFrom(registry)
      assert.sameMembers([...left(registry)], [".partial-young", "other-1.0.0", "test-1.2.3"])
    })
  )

  it.live("leaves nothing when it is interrupted, npm included", () =>
    Effect.gen(function* () {
      const registry = yield* loopbackRegistry()
      const { asked, left: hungUp } = registry.hang()
      const fiber = yield* Effect.forkChild(installFrom(registry))
      yield* Effect.promise(() => asked)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(left(registry), [])
      yield* Effect.promise(() => hungUp)
    })
  )

  it.effect("gives up in time", () =>
    Effect.gen(function* () {
      const registry = yield* loopbackRegistry()
      const { asked } = registry.hang()
      const fiber = yield* Effect.forkChild(Effect.flip(installFrom(registry)))
      yield* Effect.promise(() => asked)
      yield* TestClock.adjust(limits.installMs - 1)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust(1)
      assert.deepInclude(yield* Fiber.join(fiber), { code: "agent_install_failed", reason: "timed_out" })
      assert.deepStrictEqual(left(registry), [])
    })
  )
})

describe("a failed install", () => {
  type Failing = (registry: LoopbackRegistry) => Effect.Effect<unknown, AgentInstallFailed>

  const cases: ReadonlyArray<
    readonly [sentence: string, reason: AgentInstallFailed["reason"], failing: Failing, manifest?: object]
  > = [
    [
      "the package is unknown",
      "package_not_found",
      (registry) => installFrom(registry, { package: "nobody-has-this" })
    ],
    ["the version is unknown", "package_not_found", (registry) => installFrom(registry, { version: "9.9.9" })],
    [
      "the package is for another system",
      "platform_unsupported",
      (registry) => installFrom(registry),
      { os: ["win32"] }
    ],
    ["the executable is not in it", "executable_missing", (registry) => installFrom(registry, { executable: "bin/b" })],
    [
      "the executable is another one",
      "hash_mismatch",
      (registry) =>
        installFrom(registry, {
          sha256: Object.fromEntries(Object.keys(distribution.sha256).map((key) => [key, "0".repeat(64)]))
        })
    ],
    [
      "the registry is away",
      "registry_unreachable",
      (registry) => {
        registry.close()
        return installFrom(registry)
      }
    ],
    [
      "there is no npm",
      "npm_missing",
      (registry) => install("test", distribution, { ...registry.host, PATH: `${registry.folder}/empty` })
    ],
    [
      "the cache cannot be written",
      "cache_unwritable",
      (registry) =>
        Effect.flatMap(placeFile(registry.folder, "file"), (file) =>
          install("test", distribution, { ...registry.host, XDG_CACHE_HOME: file })
        )
    ]
  ]

  for (const [sentence, reason, failing, manifest] of cases) {
    it.live(`says ${reason} when ${sentence}, and leaves nothing`, () =>
      Effect.gen(function* () {
        const registry = yield* loopbackRegistry({ ...manifest })
        const error = yield* Effect.flip(failing(registry))
        assert.deepInclude(error, { code: "agent_install_failed", agent: "test", reason })
        assert.deepStrictEqual(left(registry), [])
      })
    )
  }

  it("keeps a bounded part of npm's words", () => {
    const said = JSON.stringify({ error: { code: "E404", summary: "x".repeat(limits.installDetailCharactersMax) } })
    assert.strictEqual(npmFailure(said, "").detail.length, limits.installDetailCharactersMax)
  })

  it("understands words that are not JSON", () => {
    assert.deepStrictEqual(npmFailure("", "npm broke\n"), { reason: "npm_failed", detail: "npm broke" })
  })

  it("takes an unknown code for a failure of npm", () => {
    const said = JSON.stringify({ error: { code: "toString", summary: "odd" } })
    assert.deepStrictEqual(npmFailure(said, ""), { reason: "npm_failed", detail: "toString odd" })
  })
})
