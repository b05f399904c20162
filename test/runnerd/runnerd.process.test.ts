/** A real runner behind its socket: killed at some of its commits (`npm run crash` does all), and left by its control plane. */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { waitUntil } from "../process/processes.ts"
import { connect, heard, inOrder, listen, newBook, typesOf } from "./controlPlane.ts"
import { crashAt } from "./crashes.ts"
import type { KillPoint } from "./daemon.ts"
import { clearProcesses, makeDaemonFolder, processesOf, startDaemon } from "./startDaemon.ts"

const kills: ReadonlyArray<KillPoint> = [
  { commit: 3, side: "after" },
  { commit: 12, side: "before" },
  { commit: 24, side: "after" },
  { commit: 36, side: "before" }
]

describe("a runner that is killed", () => {
  for (const kill of kills) {
    it(
      `${kill.side} commit ${kill.commit} loses nothing, repeats nothing and leaves nothing`,
      { timeout: 120_000 },
      async () => {
        expect(await crashAt(kill)).toMatchObject({
          commit: expect.any(String),
          lost: [],
          duplicated: [],
          broken: [],
          survivors: 0
        })
      }
    )
  }
})

describe("a control plane that vanishes", () => {
  it("finds its request open when it returns, and answers it once", { timeout: 120_000 }, async () => {
    const folder = makeDaemonFolder()
    const workspace = path.join(folder, "workspace")
    const daemon = await startDaemon({ folder })
    const book = newBook()
    try {
      await Effect.runPromise(
        Effect.gen(function* () {
          const connection = yield* connect(folder)
          yield* Effect.forkScoped(listen(connection, book))
          yield* connection.command("run-1", "run.prepare", { provider: { kind: "bundled", cwd: workspace } })
          yield* connection.command("run-1", "session.open", {})
          yield* connection.command("run-1", "turn.start", { turnId: "turn-1", text: "run: echo effect >> effect.txt" })
          yield* heard(book, (types) => types.includes("runtime_request.created"))
        }).pipe(Effect.scoped)
      )
      await Effect.runPromise(
        Effect.gen(function* () {
          const connection = yield* connect(folder)
          yield* Effect.forkScoped(listen(connection, book))
          const [run] = connection.welcome.runs
          expect(run).toMatchObject({ runId: "run-1", runState: "active", activeTurnId: "turn-1" })
          const [requestId] = run?.openRequests ?? []
          const answer = { requestId, response: { action: "accept" } }
          const replies = yield* Effect.all(
            [1, 2].map(() => connection.command("run-1", "request.resolve", answer)),
            { concurrency: 2 }
          )
          expect(replies.map(({ status }) => status).sort()).toEqual(["completed", "rejected"])
          yield* heard(book, (types) => types.includes("turn.completed"))
          yield* connection.command("run-1", "session.close", {})
          yield* heard(book, (types) => types.includes("run.terminal"))
          yield* connection.command(null, "runner.shutdown", {})
        }).pipe(Effect.scoped)
      )
      expect(await daemon.exited).toEqual({ code: 0, signal: null })
      expect(book.duplicated).toEqual([])
      expect(inOrder(book).map(({ sourceSeq }) => sourceSeq)).toEqual(inOrder(book).map((_, n) => n + 1))
      expect(typesOf(book).filter((type) => type.startsWith("runtime_request."))).toEqual([
        "runtime_request.created",
        "runtime_request.resolved"
      ])
      expect(fs.readFileSync(path.join(workspace, "effect.txt"), "utf8")).toBe("effect\n")
      expect(await waitUntil(() => processesOf(folder).length === 0)).toBe(true)
    } finally {
      daemon.kill()
      await daemon.exited
      clearProcesses(folder)
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })
})
