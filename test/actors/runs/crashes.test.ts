/**
 * The process of the runner dies at every write of a run with a permission, before it and after it, and so does its disk; then
 * there is another process over what was stored.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { Runs } from "../../../src/actors/Runs.ts"
import { StoreFailed } from "../../../src/schema/errors.ts"
import type { CommandReply } from "../../../src/schema/run.ts"
import { probedStore } from "../durableHost.ts"
import { controllerOf, type Host, type LoggedEvent, logged, makeHost, prepare } from "./controller.ts"

interface Fault {
  readonly commit: number
  /** Whether that commit is stored all the same. Nothing behind it is. */
  readonly isStored: boolean
}

/** A host whose store goes with its process. `died` completes when it does. */
const faultyHost = (fault: Fault) => {
  const inner = probedStore()
  const died = Deferred.makeUnsafe<void>()
  let commits = 0
  let isOver = false
  const probe = {
    ...inner,
    store: {
      ...inner.store,
      commit: (changes: Parameters<typeof inner.store.commit>[0]) =>
        Effect.suspend(() => {
          if (isOver || ++commits < fault.commit) return isOver ? failure : inner.store.commit(changes)
          isOver = true
          Deferred.doneUnsafe(died, Effect.void)
          return fault.isStored ? Effect.andThen(inner.store.commit(changes), failure) : failure
        })
    }
  }
  const repair = () => {
    isOver = false
    commits = Number.NEGATIVE_INFINITY
  }
  return { host: makeHost(undefined, probe), died: Deferred.await(died), isDead: () => isOver, repair }
}

const failure = Effect.fail(new StoreFailed({ operation: "commit", reason: "the process has died" }))

/** What the control plane knows over all lives. */
interface Book {
  readonly replies: Map<string, CommandReply>
  readonly unstable: Array<string>
}

const terminals = new Set(["turn.completed", "turn.failed", "turn.interrupted", "turn.cancelled"])
const requestEnds = new Set(["runtime_request.resolved", "runtime_request.expired", "runtime_request.cancelled"])

const until = (host: Host, isSo: (events: ReadonlyArray<LoggedEvent>) => boolean) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 5_000; tries++) {
      if (isSo(yield* logged(host.probe))) return
      yield* Effect.yieldNow
    }
    return yield* Effect.die(new Error("never so"))
  })

const has = (types: ReadonlySet<string>) => (events: ReadonlyArray<LoggedEvent>) =>
  events.some(({ eventType }) => types.has(eventType))

/** Goes on where the book ends; whatever was answered is asked for again, and must be answered the same. */
const drive = Effect.fnUntraced(function* (host: Host, book: Book) {
  const controller = controllerOf("r1")
  const known = [...book.replies]
  const over = has(new Set(["run.terminal"]))
  const send = (commandId: string, type: string, payload: unknown = {}) =>
    Effect.gen(function* () {
      const before = book.replies.get(commandId)
      const controllerSeq = before?.controllerSeq ?? book.replies.size + 1
      const reply = yield* controller.send(type, payload, { commandId, controllerSeq })
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(reply)) book.unstable.push(commandId)
      book.replies.set(commandId, reply)
      return reply
    })
  const insist = (commandId: string, type: string, payload: unknown = {}) =>
    Effect.flatMap(send(commandId, type, payload), (reply) =>
      reply.status === "indeterminate" ? send(`${commandId}-again`, type, payload) : Effect.succeed(reply)
    )

  yield* insist("prepare", "run.prepare", prepare)
  if ((yield* insist("open", "session.open")).status !== "completed") return yield* until(host, over)
  if ((yield* send("start", "turn.start", { turnId: "t1", text: "ask" })).status !== "completed") {
    return yield* until(host, over)
  }
  yield* until(host, has(new Set(["runtime_request.created", ...terminals])))
  const asked = (yield* logged(host.probe)).find(({ eventType }) => eventType === "runtime_request.created")
  const requestId = (asked?.payload["request"] as { readonly requestId: string } | undefined)?.requestId
  if (requestId !== undefined) yield* send("resolve", "request.resolve", { requestId, response: { action: "accept" } })
  yield* until(host, has(terminals))
  yield* send("close", "session.close")
  yield* until(host, over)
  expect(known.every(([commandId]) => book.replies.has(commandId))).toBe(true)
})

const problemsOf = (host: Host, before: ReadonlyArray<LoggedEvent>, after: ReadonlyArray<LoggedEvent>, book: Book) => {
  const count = (isIt: (event: LoggedEvent) => boolean) => after.filter(isIt).length
  const frames = host.agents.flatMap(({ written }) => written)
  const prompts = frames.filter((frame) => frame["method"] === "session/prompt").length
  const answers = frames.filter((frame) => String(frame["id"]).startsWith("p-") && frame["method"] === undefined)
  const submitted = count(({ eventType }) => eventType === "turn.submitted")
  const created = count(({ eventType }) => eventType === "runtime_request.created")
  return [
    ...(JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before)
      ? []
      : ["what was stored has changed"]),
    ...(after.every(({ sourceSeq }, n) => sourceSeq === n + 1) ? [] : ["a gap in the log"]),
    ...(new Set(after.map(({ sourceEventId }) => sourceEventId)).size === after.length ? [] : ["an id given twice"]),
    ...(submitted <= 1 && submitted === count(({ eventType }) => terminals.has(eventType)) ? [] : ["a turn's end"]),
    ...(created <= 1 && created === count(({ eventType }) => requestEnds.has(eventType)) ? [] : ["a request's end"]),
    ...(count(({ eventType }) => eventType === "run.terminal") === 1 ? [] : ["the run's end"]),
    ...(after.at(-1)?.eventType === "run.terminal" ? [] : ["something behind the run's end"]),
    ...(prompts <= 1 ? [] : [`the prompt was written ${prompts} times`]),
    ...(answers.length <= 1 ? [] : ["the request was answered twice"]),
    ...book.unstable.map((commandId) => `another answer to ${commandId}`)
  ]
}

const restarted = Effect.fnUntraced(function* (fault: Fault) {
  const { died, host, isDead, repair } = faultyHost(fault)
  const book: Book = { replies: new Map(), unstable: [] }
  yield* host.inLife(Effect.raceFirst(drive(host, book), died)).pipe(Effect.exit)
  const isKilled = isDead()
  repair()
  const before = yield* logged(host.probe)
  yield* host.inLife(drive(host, book))
  const after = yield* logged(host.probe)
  const statuses = yield* host.inLife(Effect.flatMap(Runs, (runs) => runs.statuses))
  const again = yield* logged(host.probe)
  return {
    isKilled,
    wasAsked: has(new Set(["runtime_request.created"]))(before) && !has(requestEnds)(before),
    problems: [
      ...problemsOf(host, before, after, book),
      ...(again.length === after.length ? [] : ["a third life has something to say"]),
      ...(statuses.every(({ runState }) => runState === "terminal") ? [] : ["a run without an owner"]),
      ...(host.agents.every((agent) => agent.isEnded()) ? [] : ["an agent is left"])
    ]
  }
})

describe("a runner that dies at a write", () => {
  for (const isStored of [false, true]) {
    it.effect(`${isStored ? "behind" : "before"} it, whichever it is, tells the rest of the story once`, () =>
      Effect.gen(function* () {
        let deaths = 0
        let withRequestOpen = 0
        for (let commit = 1; ; commit++) {
          const { isKilled, problems, wasAsked } = yield* restarted({ commit, isStored })
          expect({ commit, problems }).toEqual({ commit, problems: [] })
          if (!isKilled) break
          deaths++
          if (wasAsked) withRequestOpen++
        }
        expect(deaths).toBeGreaterThan(20)
        expect(withRequestOpen).toBeGreaterThan(0)
      })
    )
  }
})
