/** The cases of a store, over each of them. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { afterAll, describe, it } from "vitest"
import * as memory from "../../../src/layers/store/memory.ts"
import * as sqlite from "../../../src/layers/store/sqlite.ts"
import type { StoreRefused } from "../../../src/schema/errors.ts"
import { JournalStore } from "../../../src/services/JournalStore.ts"
import { playCase, storeCases } from "./storeCases.ts"

const folder = mkdtempSync(join(tmpdir(), "greenroom-stores-"))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0

/** A new, empty store each time; the layer opens it again as often as it is built. */
const stores: Readonly<Record<string, () => Layer.Layer<JournalStore, StoreRefused>>> = {
  "in memory": () => Layer.succeed(JournalStore, memory.makeMemoryStore()),
  "in SQLite": () => sqlite.layer({ file: join(folder, String(files++), "journal.db") }),
  "in SQLite, each commit on the disk": () =>
    sqlite.layer({ file: join(folder, String(files++), "journal.db"), synchronous: "FULL" })
}

for (const [name, newStore] of Object.entries(stores)) {
  describe(`a store ${name}`, () => {
    for (const [what, storeCase] of Object.entries(storeCases)) {
      it(what, async () => {
        const store = newStore()
        await playCase(
          storeCase,
          (effect) => JournalStore.pipe(Effect.flatMap(effect), Effect.provide(store), Effect.runPromise),
          Effect.exit
        )
      })
    }
  })
}
