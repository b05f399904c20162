/**
 * A process that holds the store in FILE and commits, one commit after the other, each of some events and a record of the last
 * number. Says the last number behind each commit, or why it cannot go on.
 */
import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as sqlite from "../../../src/layers/store/sqlite.ts"
import { type Change, JournalStore } from "../../../src/services/JournalStore.ts"

const [file = "", synchronous = "NORMAL"] = process.argv.slice(2)

const say = (what: unknown) => Effect.sync(() => writeSync(1, `${JSON.stringify(what)}\n`))

const eventOf = (seq: number): Change => {
  const json = JSON.stringify({ seq, text: "x".repeat(300) })
  return { _tag: "Event", seq, priority: 1, runId: "r1", sessionId: "s1", json, bytes: json.length }
}

const program = Effect.gen(function* () {
  const store = yield* JournalStore
  let { lastSeq } = yield* store.load
  yield* say({ opened: lastSeq })
  for (;;) {
    const count = 1 + (lastSeq % 7)
    const changes = Array.from({ length: count }, (_, n) => eventOf(lastSeq + 1 + n))
    yield* store.commit([...changes, { _tag: "Record", kind: "run", id: "r1", value: lastSeq + count }])
    lastSeq += count
    yield* say({ committed: lastSeq })
  }
})

const layer = sqlite.layer({ file, synchronous: synchronous === "FULL" ? "FULL" : "NORMAL" })
await Effect.runPromise(
  program.pipe(
    Effect.provide(layer),
    Effect.catch((error) => say({ failed: error.code, detail: "detail" in error ? error.reason : error.operation }))
  )
)
