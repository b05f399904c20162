/** Stores whose holder is killed, or whose disk takes no more: real processes, a real file. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as sqlite from "../../../src/layers/store/sqlite.ts"
import { JournalStore } from "../../../src/services/JournalStore.ts"
import { temporaryFolder } from "../providers/temporary.ts"

const program = join(import.meta.dirname, "committer.ts")

interface Word {
  readonly opened?: number
  readonly committed?: number
  readonly failed?: string
  readonly detail?: string
}

/** Runs until `isEnough`, then is killed. All that it said, and how it ended. */
const holder = (command: string, args: ReadonlyArray<string>, isEnough: (words: ReadonlyArray<Word>) => boolean) =>
  Effect.promise(
    () =>
      new Promise<{ readonly words: ReadonlyArray<Word>; readonly signal: string | null }>((resolve) => {
        const child: ChildProcess = spawn(command, [...args], { stdio: ["ignore", "pipe", "inherit"] })
        const words: Array<Word> = []
        if (child.stdout === null) throw new Error("no output")
        createInterface({ input: child.stdout }).on("line", (line) => {
          words.push(JSON.parse(line))
          if (isEnough(words)) child.kill("SIGKILL")
        })
        child.on("close", (_, signal) => resolve({ words, signal }))
      })
  )

const lastCommitted = (words: ReadonlyArray<Word>) =>
  words.findLast((word) => word.committed !== undefined)?.committed ?? words[0]?.opened ?? Number.NaN

/** What is in the file: all numbers up to the last, and the record that came with it. */
const look = (file: string) =>
  Effect.gen(function* () {
    const store = yield* JournalStore
    const { lastSeq, records } = yield* store.load
    let after = 0
    for (;;) {
      const batch = yield* store.read({ after, eventsMax: 500, bytesMax: 1e9 })
      if (batch.length === 0) break
      for (const { json, seq } of batch) {
        expect(seq).toBe(++after)
        expect(JSON.parse(json)).toMatchObject({ seq })
      }
    }
    expect(after).toBe(lastSeq)
    if (lastSeq > 0) expect(records).toEqual([{ kind: "run", id: "r1", value: lastSeq }])
    return lastSeq
  }).pipe(Effect.provide(sqlite.layer({ file })))

describe("a store whose holder is killed", () => {
  for (const synchronous of ["NORMAL", "FULL"]) {
    it.live(
      `has every commit that returned, whole, and no part of another (${synchronous})`,
      () =>
        Effect.gen(function* () {
          const file = join(yield* temporaryFolder, "store", "journal.db")
          for (const commits of [1, 2, 60]) {
            const { signal, words } = yield* holder(
              process.execPath,
              [program, file, synchronous],
              (said) => said.length > commits
            )
            expect(signal).toBe("SIGKILL")
            expect(yield* look(file)).toBeGreaterThanOrEqual(lastCommitted(words))
          }
        }).pipe(Effect.scoped),
      60_000
    )
  }

  it.live(
    "is refused to a second process while the first one lives",
    () =>
      Effect.gen(function* () {
        const file = join(yield* temporaryFolder, "store", "journal.db")
        const second = yield* Effect.gen(function* () {
          yield* JournalStore
          return yield* holder(process.execPath, [program, file], () => true)
        }).pipe(Effect.provide(sqlite.layer({ file })))
        expect(second.words).toEqual([{ failed: "store_refused", detail: "locked" }])
        expect(yield* look(file)).toBe(0)
      }).pipe(Effect.scoped),
    30_000
  )
})

describe("a disk that takes no more", () => {
  const limited = (file: string, blocks: number) => {
    const script = `trap "" XFSZ; ulimit -f ${blocks}; exec "$@"`
    return holder("/bin/sh", ["-c", script, "sh", process.execPath, program, file], () => false)
  }

  it.live(
    "refuses the store when it is not even enough for that, and a later opening works",
    () =>
      Effect.gen(function* () {
        const file = join(yield* temporaryFolder, "store", "journal.db")
        const { words } = yield* limited(file, 160)
        expect(words).toEqual([{ failed: "store_refused", detail: "unusable" }])
        expect(yield* look(file)).toBe(0)
      }).pipe(Effect.scoped),
    30_000
  )

  for (const blocks of [301, 302, 400]) {
    it.live(
      `fails the commit, and loses nothing before it (${blocks} blocks)`,
      () =>
        Effect.gen(function* () {
          const file = join(yield* temporaryFolder, "store", "journal.db")
          const { words } = yield* limited(file, blocks)
          expect(words.at(-1)).toEqual({ failed: "store_failed", detail: "commit" })
          expect(yield* look(file)).toBe(lastCommitted(words))
        }).pipe(Effect.scoped),
      30_000
    )
  }
})
