/**
 * What a replay does with every line of a transcript, decided from the recorded order alone.
 *
 * The agent's lines are said as recorded, but for the ids of its responses, which are ours. The host's lines tell what our
 * host does; our host writes its own frames. What it would never write is left out, by these rules and never in silence:
 *
 * | recorded | what becomes of it |
 * |---|---|
 * | does not begin with `initialize` | the whole transcript is left out: our host begins with it |
 * | `session/load` or `resume` before any session | our host opens a session instead and gets that answer, with the loaded id |
 * | a second session, and prompts and cancels of it | left out; the agent's updates of it are said |
 * | a second prompt while one runs | left out with its answer: ours would wait for its turn; the updates of it are said |
 * | a cancel while nothing runs, a second cancel | asked of our host, which writes no frame for it |
 * | an answer to what is settled already, or by an option that was not offered | asked of our host, which refuses it; an open request is answered `cancelled` instead |
 * | a mode that is not offered | asked of our host, which refuses it |
 * | any other method, malformed lines | left out, with the answer |
 * | the end of the input, nothing running | our host closes the session; what the agent says then is not read, and left out |
 * | the end of the input under a running prompt | nothing: our host cancels first; what the agent did then, it does by itself |
 */
import type { ProcessExit } from "../../src/services/Os.ts"
import type { RequestAnswer } from "../../src/schema/request.ts"
import type { Json } from "../../src/testing/FakeLinks.ts"
import { exitOf, inputEnded, isJson, type Line, type Transcript } from "./transcript.ts"

export type Step = { readonly t: number; readonly line: number } &
  /** Our open writes a request of this method. */
  (
    | { readonly _tag: "Opens"; readonly method: "initialize" | "session/new"; readonly id: string }
    | { readonly _tag: "Prompts"; readonly turn: number; readonly texts: ReadonlyArray<string>; readonly id: string }
    | { readonly _tag: "Cancels"; readonly turn: number | undefined; readonly isWritten: boolean }
    /** The agent's n-th request. `isTaken`: our host takes the answer and writes it, else it refuses. */
    | { readonly _tag: "Answers"; readonly request: number; readonly answer: RequestAnswer; readonly isTaken: boolean }
    /** Our host has answered the agent's n-th request by itself, as the recorded one did. */
    | { readonly _tag: "Hears"; readonly request: number; readonly reply: Json }
    | { readonly _tag: "SetsMode"; readonly modeId: string; readonly isOffered: boolean; readonly id: string }
    /** `answers`: the request of the host that this frame is the response to. `turn`: the prompt that runs. */
    | { readonly _tag: "Says"; readonly frame: Json; readonly answers?: string; readonly turn: number | undefined }
    | { readonly _tag: "SaysRaw"; readonly text: string }
    | { readonly _tag: "Closes" }
    | { readonly _tag: "Exits"; readonly exit: ProcessExit }
  )

export interface Skipped {
  /** From 1. */
  readonly line: number
  readonly reason: string
}

export interface Plan {
  readonly steps: ReadonlyArray<Step>
  readonly skipped: ReadonlyArray<Skipped>
}

export const planOf = (transcript: Transcript): Plan => {
  const first = transcript.lines.find((line) => line._tag !== "Mark")
  if (first?._tag !== "Frame" || first.from !== "host" || first.frame["method"] !== "initialize") {
    const reason = "our host begins with initialize"
    return { steps: [], skipped: transcript.lines.map((_, index) => ({ line: index + 1, reason })) }
  }
  const planner = new Planner()
  transcript.lines.forEach((line, index) => planner.take(line, index + 1))
  return planner
}

/** The JSON type of an id is part of it. */
export const keyOf = (id: unknown): string => JSON.stringify(id ?? null)

/** Taken out of the union one by one, so that each keeps its own fields. */
type Bare<S> = S extends unknown ? Omit<S, "t" | "line"> : never

interface Prompt {
  readonly turn: number
  isCancelled: boolean
}

class Planner implements Plan {
  readonly steps: Array<Step> = []
  readonly skipped: Array<Skipped> = []
  private t = 0
  private line = 0
  private readonly opened = new Set<string>()
  private session: string | undefined
  private modes: ReadonlySet<string> = new Set()
  private prompt: Prompt | undefined
  private prompts = 0
  private isClosed = false
  /** Requests of the host that are played, by id, and what the answer does. */
  private readonly asked = new Map<string, (response: Json) => Json>()
  private readonly leftOut = new Set<string>()
  /** Requests of the agent in order: to be answered, answered by our host without being told, or answered. */
  private readonly requests: Array<{ readonly frame: Json; state: "open" | "alone" | "answered" }> = []

  take(line: Line, number: number): void {
    this.t = line.t
    this.line = number
    if (line._tag === "Mark") return this.mark(line.note)
    if (line.from === "host") {
      return line._tag === "Raw" ? this.skip("our host writes frames only") : this.host(line.frame)
    }
    if (this.isClosed) return this.skip("our host has closed the session and does not read on")
    if (line._tag === "Raw") return this.add({ _tag: "SaysRaw", text: line.text })
    this.agent(line.frame)
  }

  private add(step: Bare<Step>): void {
    this.steps.push({ t: this.t, line: this.line, ...step })
  }

  private skip(reason: string): void {
    this.skipped.push({ line: this.line, reason })
  }

  private mark(note: string): void {
    const exit = exitOf(note)
    if (exit !== undefined) return this.add({ _tag: "Exits", exit })
    if (note !== inputEnded || this.isClosed || this.prompt !== undefined || this.session === undefined) return
    this.isClosed = true
    this.add({ _tag: "Closes" })
  }

  private host(frame: Json): void {
    const { method, params } = frame
    const about = isJson(params) ? params["sessionId"] : undefined
    switch (method) {
      case undefined:
        return this.answer(frame)
      case "initialize":
      case "session/new":
        return this.open(frame, method)
      case "session/load":
      case "session/resume":
        return this.load(frame, method, about)
      case "session/prompt":
        return about === this.session ? this.promptWith(frame) : this.leaveOut(frame, "another session")
      case "session/cancel":
        return about === this.session ? this.cancel() : this.leaveOut(frame, "another session")
      case "session/set_mode":
        return this.setMode(frame)
      default:
        return this.leaveOut(frame, `our host does not send ${String(method)}`)
    }
  }

  private leaveOut(frame: Json, reason: string): void {
    if ("id" in frame) this.leftOut.add(keyOf(frame["id"]))
    this.skip(reason)
  }

  private open(frame: Json, method: "initialize" | "session/new"): void {
    if (this.opened.has(method)) return this.leaveOut(frame, `our host sends ${method} once`)
    this.opened.add(method)
    this.ask(frame, (response) => {
      if (method === "session/new") this.known(response["result"])
      return response
    })
    this.add({ _tag: "Opens", method, id: keyOf(frame["id"]) })
  }

  private load(frame: Json, method: string, sessionId: unknown): void {
    if (this.opened.has("session/new")) return this.leaveOut(frame, `our host does not send ${method}`)
    this.opened.add("session/new")
    this.ask(frame, (response) => {
      if (!isJson(response["result"])) return response
      const result = { ...response["result"], sessionId }
      this.known(result)
      return { ...response, result }
    })
    this.skip(`our host opens a session in place of ${method}`)
    this.add({ _tag: "Opens", method: "session/new", id: keyOf(frame["id"]) })
  }

  private known(result: unknown): void {
    if (!isJson(result)) return
    this.session = typeof result["sessionId"] === "string" ? result["sessionId"] : undefined
    const available = isJson(result["modes"]) ? result["modes"]["availableModes"] : undefined
    const ids = Array.isArray(available)
      ? available.map((mode: unknown) => (isJson(mode) ? mode["id"] : undefined))
      : []
    this.modes = new Set(ids.filter((id) => typeof id === "string"))
  }

  private ask(frame: Json, answered: (response: Json) => Json): void {
    this.asked.set(keyOf(frame["id"]), answered)
  }

  private promptWith(frame: Json): void {
    if (this.prompt !== undefined) return this.leaveOut(frame, "a second prompt waits in our host while one runs")
    const texts = textsOf(frame)
    if (texts === undefined) return this.leaveOut(frame, "a prompt of more than texts")
    const prompt: Prompt = { turn: this.prompts++, isCancelled: false }
    this.prompt = prompt
    this.ask(frame, (response) => {
      this.prompt = undefined
      this.settleRequests()
      return response
    })
    this.add({ _tag: "Prompts", turn: prompt.turn, texts, id: keyOf(frame["id"]) })
  }

  private cancel(): void {
    const prompt = this.prompt
    const isWritten = prompt !== undefined && !prompt.isCancelled
    if (!isWritten) this.skip(prompt === undefined ? "our host cancels nothing while idle" : "our host cancels once")
    this.add({ _tag: "Cancels", turn: prompt?.turn, isWritten })
    if (prompt === undefined) return
    prompt.isCancelled = true
    this.settleRequests()
  }

  private settleRequests(): void {
    for (const request of this.requests) if (request.state === "open") request.state = "alone"
  }

  private setMode(frame: Json): void {
    const modeId = isJson(frame["params"]) ? frame["params"]["modeId"] : undefined
    if (typeof modeId !== "string") return this.leaveOut(frame, "a mode without a name")
    const isOffered = this.modes.has(modeId)
    if (isOffered) this.ask(frame, (response) => response)
    else this.leaveOut(frame, "our host sets no mode that is not offered")
    this.add({ _tag: "SetsMode", modeId, isOffered, id: keyOf(frame["id"]) })
  }

  private answer(frame: Json): void {
    const key = keyOf(frame["id"])
    const index = this.requests.findLastIndex((one) => keyOf(one.frame["id"]) === key)
    const request = this.requests[index]
    if (request === undefined) return this.skip("an answer to nothing")
    const { state } = request
    const answer = answerOf(frame["result"])
    request.state = "answered"
    if (state === "alone" && ("error" in frame || answer?._tag === "Cancelled")) {
      return this.add({ _tag: "Hears", request: index, reply: frame })
    }
    if (request.frame["method"] !== "session/request_permission") {
      return this.skip(`our host does not offer ${String(request.frame["method"])}`)
    }
    if (answer === undefined) return this.skip("an answer that our host does not give")
    if (state !== "open") {
      this.skip("our host refuses an answer to a request that is settled")
      return this.add({ _tag: "Answers", request: index, answer, isTaken: false })
    }
    if (isOffered(request.frame, answer)) return this.add({ _tag: "Answers", request: index, answer, isTaken: true })
    this.skip("our host refuses an option that is not offered, and is told to answer cancelled")
    this.add({ _tag: "Answers", request: index, answer, isTaken: false })
    this.add({ _tag: "Answers", request: index, answer: { _tag: "Cancelled" }, isTaken: true })
  }

  private agent(frame: Json): void {
    const turn = this.prompt?.turn
    if ("method" in frame) {
      if ("id" in frame) {
        const isAsked = frame["method"] === "session/request_permission" && this.prompt?.isCancelled === false
        this.requests.push({ frame, state: isAsked ? "open" : "alone" })
      } else if (frame["method"] === "$/cancel_request") this.withdraw(frame)
      return this.add({ _tag: "Says", frame, turn })
    }
    const key = keyOf(frame["id"])
    const answered = "id" in frame ? this.asked.get(key) : undefined
    if (answered !== undefined) {
      this.asked.delete(key)
      return this.add({ _tag: "Says", frame: answered(frame), answers: key, turn })
    }
    if (this.leftOut.delete(key)) return this.skip("the answer to what was left out")
    this.add({ _tag: "Says", frame, turn })
  }

  private withdraw(frame: Json): void {
    const key = keyOf(isJson(frame["params"]) ? frame["params"]["requestId"] : undefined)
    for (const request of this.requests) {
      if (request.state === "open" && keyOf(request.frame["id"]) === key) request.state = "alone"
    }
  }
}

const textsOf = (frame: Json): ReadonlyArray<string> | undefined => {
  const blocks = isJson(frame["params"]) ? frame["params"]["prompt"] : undefined
  if (!Array.isArray(blocks)) return undefined
  const texts = blocks.map((block: unknown) => (isJson(block) && block["type"] === "text" ? block["text"] : undefined))
  return texts.every((text) => typeof text === "string") ? texts : undefined
}

const answerOf = (result: unknown): RequestAnswer | undefined => {
  const outcome = isJson(result) ? result["outcome"] : undefined
  if (!isJson(outcome)) return undefined
  if (outcome["outcome"] === "cancelled") return { _tag: "Cancelled" }
  const { optionId } = outcome
  return typeof optionId === "string" ? { _tag: "Selected", optionId } : undefined
}

const isOffered = (request: Json, answer: RequestAnswer): boolean => {
  if (answer._tag === "Cancelled") return true
  const options = isJson(request["params"]) ? request["params"]["options"] : undefined
  return Array.isArray(options) && options.some((one: unknown) => isJson(one) && one["optionId"] === answer.optionId)
}
