/** What is played of a recording, and what is left out and why. */
import { describe, expect, it } from "vitest"
import type { Json } from "../../src/testing/FakeLinks.ts"
import { planOf } from "./plan.ts"
import type { Line } from "./transcript.ts"

const host = (frame: Json): Line => ({ _tag: "Frame", from: "host", t: 0, frame })
const agent = (frame: Json): Line => ({ _tag: "Frame", from: "agent", t: 0, frame })
const mark = (note: string): Line => ({ _tag: "Mark", t: 0, note })

const inSession = { sessionId: "s" }

const opening = [
  host({ id: 0, method: "initialize" }),
  agent({ id: 0, result: {} }),
  host({ id: 1, method: "session/new" }),
  agent({ id: 1, result: { ...inSession, modes: { availableModes: [{ id: "calm" }] } } })
]
const prompt = (id: number) =>
  host({ id, method: "session/prompt", params: { ...inSession, prompt: [{ type: "text", text: "go" }] } })
const answered = (id: number) => agent({ id, result: { stopReason: "end_turn" } })
const cancel = host({ method: "session/cancel", params: inSession })
const permission = (id: unknown) =>
  agent({ id, method: "session/request_permission", params: { ...inSession, options: [{ optionId: "yes" }] } })
const answer = (id: unknown, outcome: Json) => host({ id, result: { outcome } })
const yes = { outcome: "selected", optionId: "yes" }
const cancelled = { outcome: "cancelled" }

/** After the opening: the steps by name, and what is left out. */
const planned = (...lines: ReadonlyArray<Line>) => {
  const { steps, skipped } = planOf({ name: "made up", lines: [...opening, ...lines] })
  return { steps: steps.slice(4).map((step) => step._tag), reasons: skipped.map(({ reason }) => reason), all: steps }
}

describe("a plan", () => {
  it("opens, prompts, answers and closes as the host did", () => {
    const { steps, reasons } = planned(
      prompt(2),
      permission(0),
      answer(0, yes),
      answered(2),
      mark("stdin EOF"),
      mark("exit code=0 signal=null")
    )
    expect(steps).toEqual(["Prompts", "Says", "Answers", "Says", "Closes", "Exits"])
    expect(reasons).toEqual([])
  })

  it("leaves a transcript out that does not begin with initialize", () => {
    const { steps, skipped } = planOf({ name: "made up", lines: opening.slice(2) })
    expect(steps).toEqual([])
    expect(skipped).toHaveLength(2)
  })

  it("gives each answer of the agent to the request that it answers", () => {
    const { all } = planned(prompt(2), agent({ id: "2", result: {} }), answered(2))
    expect(all.flatMap((step) => (step._tag === "Says" ? [step.answers] : []))).toEqual(["0", "1", undefined, "2"])
  })

  it("leaves a second prompt out with its answer, and says what was said of it", () => {
    const { steps, reasons } = planned(prompt(2), prompt(3), answered(2), agent({ method: "more" }), answered(3))
    expect(steps).toEqual(["Prompts", "Says", "Says"])
    expect(reasons).toEqual(["a second prompt waits in our host while one runs", "the answer to what was left out"])
  })

  it("expects one cancel frame of a turn, and none while idle", () => {
    const { all, reasons } = planned(cancel, prompt(2), cancel, cancel, answered(2))
    expect(all.flatMap((step) => (step._tag === "Cancels" ? [step.isWritten] : []))).toEqual([false, true, false])
    expect(reasons).toEqual(["our host cancels nothing while idle", "our host cancels once"])
  })

  it("hears the answer that our host gives by itself at a cancel", () => {
    const { steps, reasons } = planned(prompt(2), permission(0), cancel, answer(0, cancelled), answered(2))
    expect(steps).toEqual(["Prompts", "Says", "Cancels", "Hears", "Says"])
    expect(reasons).toEqual([])
  })

  it("has an answer refused that comes too late, a second time, or by an option that was not offered", () => {
    const late = planned(prompt(2), permission(0), cancel, answer(0, yes))
    const twice = planned(prompt(2), permission(0), answer(0, yes), answer(0, yes))
    const forged = planned(prompt(2), permission(0), answer(0, { outcome: "selected", optionId: "forged" }))
    const taken = (of: typeof late) => of.all.flatMap((step) => (step._tag === "Answers" ? [step.isTaken] : []))
    expect(taken(late)).toEqual([false])
    expect(taken(twice)).toEqual([true, false])
    expect(taken(forged)).toEqual([false, true])
    for (const of of [late, twice, forged]) expect(of.reasons).toHaveLength(1)
  })

  it("tells ids of different JSON types apart", () => {
    const { all } = planned(prompt(2), permission("0"), permission(0), answer("0", yes))
    expect(all.flatMap((step) => (step._tag === "Answers" ? [step.request] : []))).toEqual([0])
  })

  it("sets a mode that is offered, and has any other refused", () => {
    const setMode = (id: number, modeId: string) =>
      host({ id, method: "session/set_mode", params: { ...inSession, modeId } })
    const { all, reasons } = planned(setMode(2, "calm"), agent({ id: 2, result: {} }), setMode(3, "wild"))
    expect(all.flatMap((step) => (step._tag === "SetsMode" ? [step.isOffered] : []))).toEqual([true, false])
    expect(reasons).toEqual(["our host sets no mode that is not offered"])
  })

  it("leaves what it does not send out with the answer", () => {
    const { steps, reasons } = planned(host({ id: "a", method: "session/list" }), agent({ id: "a", result: {} }))
    expect(steps).toEqual([])
    expect(reasons).toEqual(["our host does not send session/list", "the answer to what was left out"])
  })

  it("opens a session in place of loading one", () => {
    const load = host({ id: 1, method: "session/load", params: { sessionId: "old" } })
    const lines = [...opening.slice(0, 2), load, agent({ id: 1, result: {} })]
    const { steps } = planOf({ name: "made up", lines })
    expect(steps.at(-1)).toMatchObject({ _tag: "Says", frame: { result: { sessionId: "old" } }, answers: "1" })
  })

  it("takes the end of the input under a running prompt for the agent's own affair", () => {
    const { steps } = planned(prompt(2), mark("stdin EOF"), answered(2), mark("exit code=0 signal=null"))
    expect(steps).toEqual(["Prompts", "Says", "Exits"])
  })

  it("does not say what comes after our host has closed", () => {
    const { steps, reasons } = planned(mark("stdin EOF"), agent({ method: "late" }))
    expect(steps).toEqual(["Closes"])
    expect(reasons).toEqual(["our host has closed the session and does not read on"])
  })
})
