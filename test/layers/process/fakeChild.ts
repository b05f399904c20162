/** A child that a test speaks for: nothing runs. */
import { PassThrough } from "node:stream"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Child } from "../../../src/layers/process/child.ts"
import type { ProcessExit } from "../../../src/services/Os.ts"

export interface FakeChild extends Child {
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  readonly stdin: PassThrough
  readonly end: () => void
}

export const makeFakeChild = (): FakeChild => {
  const exit = Deferred.makeUnsafe<ProcessExit>()
  const end = () => void Deferred.doneUnsafe(exit, Effect.succeed({ _tag: "Code", code: 0 }))
  return {
    pid: 4_000_000,
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    exit,
    unref: () => undefined,
    ref: () => undefined,
    kill: end,
    end
  }
}

/** Lets the event loop turn until everything that is on its way in a pipe has arrived. */
export const turnsOfLoop = Effect.promise(async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
})
