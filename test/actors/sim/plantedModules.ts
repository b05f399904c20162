/**
 * Modules of the runner with a bug that a test switches on: what `vi.mock` puts in their place. Their imports are types, for the
 * modules themselves are what is replaced.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type * as ForkOwned from "../../../src/actors/forkOwned.ts"
import type * as FrameWriter from "../../../src/actors/frameWriter.ts"
import type * as Actor from "../../../src/actors/kernel/Actor.ts"
import type * as OrderedQueue from "../../../src/actors/orderedQueue.ts"
import type * as RequestState from "../../../src/actors/requestState.ts"
import type * as RuntimeRequest from "../../../src/actors/RuntimeRequest.ts"
import type * as SessionTurns from "../../../src/actors/sessionTurns.ts"
import type * as Turns from "../../../src/actors/Turn.ts"
import type * as TurnState from "../../../src/actors/turnState.ts"
import type * as Limits from "../../../src/schema/limits.ts"
import type * as Events from "../../../src/schema/prp/event.ts"

export const bugs = {
  slotTwice: "an answer slot works twice",
  recordedFirst: "a request is recorded before its write",
  nobodyAnswers: "a request is taken by a turn that does nothing with it",
  requestsForgotten: "a turn does not wait for its requests",
  notNoted: "a cancel does not know of a response that was taken",
  cancelTwice: "a cancel is sent twice",
  twoAtOnce: "a prompt does not wait for the one before it",
  neverStarted: "a turn that waited is not started",
  deafWriter: "a writer does not tell of the death of its connection",
  noFinalizers: "a turn has no finalizers",
  otherOutcome: "who asks later hears another outcome",
  loose: "work of an actor outlives it, such as the deadline of a turn",
  notCounted: "a turn does not count what it leaves out",
  unbounded: "a queue that refuses nothing",
  numbers: "a number of the sequence is left out"
} as const

/** The bug that is switched on at present. */
export const planted: { bug: string } = { bug: "" }

export const plantedLimits = (module: typeof Limits) => ({
  limits: {
    ...module.limits,
    get queueFramesMax() {
      return planted.bug === bugs.unbounded ? 4 : module.limits.queueFramesMax
    },
    get subscriberEventsMax() {
      return planted.bug === bugs.notCounted ? 8 : module.limits.subscriberEventsMax
    }
  }
})

export const plantedQueue = (module: typeof OrderedQueue): typeof OrderedQueue => ({
  ...module,
  makeOrderedQueue: (bounds) =>
    module.makeOrderedQueue(planted.bug === bugs.unbounded ? { ...bounds, entriesMax: Infinity } : bounds)
})

export const plantedEvents = (module: typeof Events): typeof Events => ({
  ...module,
  envelope: (draft, identity) => {
    const skipped = planted.bug === bugs.numbers && identity.sourceSeq > 3 ? 1 : 0
    return module.envelope(draft, { ...identity, sourceSeq: identity.sourceSeq + skipped })
  }
})

export const plantedRequestState = (module: typeof RequestState): typeof RequestState => ({
  ...module,
  step: (state, input) => {
    const [next, outputs] = module.step(state, input)
    if (input._tag !== "Answered" || next._tag !== "Answering") return [next, outputs]
    if (planted.bug === bugs.recordedFirst)
      return [next, [{ _tag: "RecordResolved", resolution: next.resolution }, ...outputs]]
    // Only the slot stands between a second answer and the agent.
    if (planted.bug === bugs.slotTwice) return [next, [{ _tag: "Write", answer: next.resolution.answer }]]
    return [next, outputs]
  }
})

export const plantedRequest = (module: typeof RuntimeRequest): typeof RuntimeRequest => ({
  ...module,
  spawnRequest: (options) =>
    Effect.map(module.spawnRequest(options), (request) =>
      planted.bug === bugs.requestsForgotten ? { ...request, watch: Effect.succeed(Exit.void) } : request
    )
})

export const plantedTurnState = (module: typeof TurnState): typeof TurnState => ({
  ...module,
  step: (state, input) => {
    if (planted.bug === bugs.notCounted && input._tag === "EventsUndelivered") return [state, []]
    const [next, outputs] = module.step(state, input)
    const isDoubled = planted.bug === bugs.cancelTwice
    return [next, outputs.flatMap((one) => (isDoubled && one._tag === "WriteCancel" ? [one, one] : [one]))]
  }
})

export const plantedTurn = (module: typeof Turns): typeof Turns => ({
  ...module,
  spawnTurn: (options) =>
    Effect.map(module.spawnTurn(options), (turn) => {
      if (planted.bug === bugs.notNoted) return { ...turn, responseTaken: () => {} }
      if (planted.bug === bugs.nobodyAnswers) return { ...turn, request: () => Effect.succeed(true) }
      return turn
    })
})

export const plantedSessionTurns = (module: typeof SessionTurns): typeof SessionTurns => ({
  ...module,
  makeSessionTurns: () => {
    const turns = module.makeSessionTurns()
    const add: typeof turns.add = (turn) => Effect.andThen(turns.add(turn), turn.start)
    let heard = 0
    const outcome: typeof turns.outcome = (turnId) => {
      const told = turns.outcome(turnId)
      return told && Effect.map(told, (one) => ({ ...one, undeliveredEvents: one.undeliveredEvents + heard++ }))
    }
    if (planted.bug === bugs.twoAtOnce) return { ...turns, add }
    if (planted.bug === bugs.otherOutcome) return { ...turns, outcome }
    if (planted.bug === bugs.neverStarted) return { ...turns, startNext: Effect.void }
    return turns
  }
})

export const plantedFork = (module: typeof ForkOwned): typeof ForkOwned => ({
  ...module,
  forkOwned: (work) =>
    planted.bug === bugs.loose
      ? Effect.asVoid(Effect.forkDetach(work, { startImmediately: true }))
      : module.forkOwned(work)
})

export const plantedWriter = (module: typeof FrameWriter): typeof FrameWriter => ({
  ...module,
  makeFrameWriter: (options) => {
    const writer = module.makeFrameWriter(options)
    return planted.bug === bugs.deafWriter ? { ...writer, fail: () => {} } : writer
  }
})

/** Waits for the session that was started last, whoever is asked to. */
let waitForSession: Effect.Effect<unknown, unknown> = Effect.void
export const waitUpwards = Effect.suspend(() => waitForSession)

export const plantedActor = (module: typeof Actor): typeof Actor => {
  const spawn: typeof module.spawn = (options) => {
    const { name, control, behaviour } = options
    const isUntied = planted.bug === bugs.noFinalizers && name.startsWith("turn:")
    const tied = isUntied ? Effect.provideService(behaviour, Scope.Scope, Scope.makeUnsafe()) : behaviour
    return Effect.tap(module.spawn({ ...options, behaviour: tied }), (ref) =>
      Effect.sync(() => {
        const [tag] = control ?? []
        if (name.startsWith("session:") && tag !== undefined) waitForSession = ref.reserve(tag)
      })
    )
  }
  return { ...module, spawn }
}
