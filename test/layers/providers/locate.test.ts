import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { symlink } from "node:fs/promises"
import { relative } from "node:path"
import { executableIn, installFolder } from "../../../src/layers/providers/agentCache.ts"
import { catalogue, providerById } from "../../../src/layers/providers/catalogue.ts"
import { codex } from "../../../src/layers/providers/codex/index.ts"
import { version } from "../../../src/schema/version.ts"
import { placeExecutable, placeFile, temporaryFolder } from "./temporary.ts"

const { distribution } = codex

describe("catalogue", () => {
  it.effect("loads each provider under its id", () =>
    Effect.gen(function* () {
      const loaded = yield* Effect.all(catalogue.map((entry) => entry.load))
      assert.deepStrictEqual(
        loaded.map((provider) => provider.id),
        catalogue.map((entry) => entry.id)
      )
      assert.strictEqual(yield* providerById("nobody"), undefined)
    })
  )
})

describe("locate", () => {
  it.effect("finds the bundled agent everywhere", () =>
    Effect.gen(function* () {
      const bundled = yield* providerById("bundled")
      const located = yield* bundled?.locate({}) ?? Effect.die("no bundled agent")
      assert.deepInclude(located, { _tag: "Found", command: process.execPath, version })
      assert.match(located._tag === "Found" ? (located.args[0] ?? "") : "", /programs\/bundledAgent\.ts$/)
    })
  )

  it.effect("takes what was fetched, with its version, before what is on PATH", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const host = { PATH: `${folder}/bin`, XDG_CACHE_HOME: `${folder}/cache` }
      const onPath = yield* placeExecutable(folder, "bin/codex-acp")
      assert.deepInclude(yield* codex.locate(host), { command: onPath, version: undefined })
      assert(distribution !== undefined)
      const fetched = executableIn(installFolder("codex", distribution, host), distribution)
      yield* placeExecutable("", fetched)
      assert.deepInclude(yield* codex.locate(host), { command: fetched, version: distribution.version })
    })
  )

  it.effect("takes the user's own word before all, and does not go past it", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* placeExecutable(folder, "bin/codex-acp")
      const mine = yield* placeExecutable(folder, "mine")
      const host = { PATH: `${folder}/bin`, XDG_CACHE_HOME: `${folder}/cache` }
      assert.deepInclude(yield* codex.locate({ ...host, GREENROOM_AGENT_CODEX: mine }), { command: mine })
      const wrong = yield* codex.locate({ ...host, GREENROOM_AGENT_CODEX: `${folder}/gone` })
      assert.deepStrictEqual(wrong, {
        _tag: "Missing",
        hint: "GREENROOM_AGENT_CODEX does not name an executable file"
      })
    })
  )

  it.effect("tells the version of a package, through the link that npm makes", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const real = "lib/node_modules/@zed-industries/codex-acp"
      yield* placeFile(folder, `${real}/package.json`, JSON.stringify({ version: "7.8.9" }))
      const target = yield* placeExecutable(folder, `${real}/bin/codex-acp.js`)
      yield* placeFile(folder, "bin/other")
      yield* Effect.promise(() => symlink(target, `${folder}/bin/codex-acp`))
      const located = yield* codex.locate({ PATH: `${folder}/bin`, XDG_CACHE_HOME: folder })
      assert.deepInclude(located, { command: `${folder}/bin/codex-acp`, version: "7.8.9" })
    })
  )

  it.effect("passes over another agent of the same name", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* placeExecutable(folder, "node_modules/@agentclientprotocol/codex-acp/codex-acp")
      const path = `${folder}/node_modules/@agentclientprotocol/codex-acp`
      assert.strictEqual((yield* codex.locate({ PATH: path, XDG_CACHE_HOME: folder }))._tag, "Missing")
      const right = yield* placeExecutable(folder, "bin/codex-acp")
      const located = yield* codex.locate({ PATH: `${path}:${folder}/bin`, XDG_CACHE_HOME: folder })
      assert.deepInclude(located, { command: right })
    })
  )

  it.effect("looks at no folder that depends on the working directory, and at nothing that cannot be executed", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* placeFile(folder, "bin/codex-acp")
      yield* placeFile(folder, "other/codex-acp/file")
      yield* placeExecutable(folder, "relative/codex-acp")
      const fromHere = relative(process.cwd(), `${folder}/relative`)
      const path = ["", ".", fromHere, `${folder}/bin`, `${folder}/other`, `${folder}/none`].join(":")
      const located = yield* codex.locate({ PATH: path, XDG_CACHE_HOME: folder })
      assert.strictEqual(located._tag, "Missing")
    })
  )

  it.effect("says what helps", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const located = yield* codex.locate({ HOME: folder })
      assert.include(located._tag === "Missing" ? located.hint : "", "greenroom setup codex")
      assert.include(located._tag === "Missing" ? located.hint : "", "GREENROOM_AGENT_CODEX")
    })
  )
})
