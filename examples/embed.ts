/** A host in thirty lines: one agent, one prompt, its text on stdout, and proof that nothing is left. */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Greenroom, providerById, Runner } from "../src/index.ts"

const cwd = mkdtempSync(join(tmpdir(), "greenroom-embed-"))
writeFileSync(join(cwd, "NOTES.md"), "# Notes\n")

const program = Effect.gen(function* () {
  const runner = yield* Runner
  const provider = (yield* providerById("bundled"))!
  const session = yield* runner.open({ provider, cwd, home: "private", hostEnv: process.env, policy: "approve-all" })
  const prompt = yield* session.prompt('add "hello" to NOTES.md')
  yield* Stream.runForEach(prompt.events, (event) =>
    event.eventType === "item.delta" && event.payload.kind === "assistant_message"
      ? Effect.sync(() => process.stdout.write(event.payload.text))
      : Effect.void
  )
  const outcome = yield* prompt.outcome
  const { survivors } = yield* session.close
  yield* Console.log(`\n${outcome._tag}, ${survivors.length} processes left`)
})

await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(Greenroom.layer())))
