import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { npmInstall } from "../../../src/layers/providers/npm.ts"
import { limits } from "../../../src/schema/limits.ts"
import { placeFile, temporaryFolder } from "./temporary.ts"

/** The reason that is read from an npm that fails with one JSON object of this size. */
const reasonAt = (characters: number) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const error = (summary: string) => JSON.stringify({ error: { code: "E404", summary } })
    const output = yield* placeFile(folder, "output", error("x".repeat(characters - error("").length)))
    yield* placeFile(folder, "bin/npm", `#!/bin/sh\ncat '${output}'\nexit 1\n`, 0o755)
    const failure = yield* npmInstall("agent@1", folder, { PATH: `${folder}/bin:${process.env["PATH"] ?? ""}` })
    return failure?.reason
  }).pipe(Effect.scoped)

describe("the output of npm", () => {
  it.live("is read up to a bound, beyond which it is no JSON any more", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reasonAt(limits.installOutputCharactersMax), "package_not_found")
      assert.strictEqual(yield* reasonAt(limits.installOutputCharactersMax + 1), "npm_failed")
    })
  )
})
