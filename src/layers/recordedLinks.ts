/**
 * Records the raw traffic of every link as JSON Lines, so that it can be replayed:
 *
 *     {"dir":"c2a","t":12,"msg":{...}}    a frame to the agent; `a2c`: from it; `t`: milliseconds since the link was opened
 *     {"dir":"a2c","t":12,"raw":"..."}    a line that is no JSON object, as text
 *     {"dir":"mark","t":12,"note":"..."}  `stdin EOF`, or `exit code=0 signal=null`
 *
 * What goes to the agent is recorded once the operating system took it.
 *
 * Bounds: a line of more than `frameBytesMax` is recorded in pieces, under `raw`. The lines hold whatever the traffic holds,
 * secrets included.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { limits } from "../schema/limits.ts"
import { type AgentLink, AgentLinks, type CleanupReport } from "../services/AgentLink.ts"

export type Direction = "c2a" | "a2c"

/** `write` gets one or more whole lines, with their ends. */
export const layer = (write: (lines: string) => Effect.Effect<void>): Layer.Layer<AgentLinks, never, AgentLinks> =>
  Layer.effect(
    AgentLinks,
    Effect.map(AgentLinks, (links) =>
      AgentLinks.of({ open: (launch) => Effect.flatMap(links.open(launch), (link) => recorded(link, write)) })
    )
  )

const recorded = Effect.fnUntraced(function* (link: AgentLink, write: (lines: string) => Effect.Effect<void>) {
  const startMs = yield* Clock.currentTimeMillis
  const toAgent = lineSplitter()
  const fromAgent = lineSplitter()
  const marked = new Set<string>()

  const record = Effect.fnUntraced(function* (lines: ReadonlyArray<(t: number) => string>) {
    const t = (yield* Clock.currentTimeMillis) - startMs
    if (lines.length > 0) yield* write(lines.map((line) => line(t)).join(""))
  })
  const traffic = (dir: Direction, lines: ReadonlyArray<string>) => record(lines.map((line) => trafficLine(dir, line)))
  const mark = (note: string) =>
    Effect.suspend(() => {
      if (marked.has(note)) return Effect.void
      marked.add(note)
      return record([markLine(note)])
    })
  const ended = (report: CleanupReport) => mark(exitNote(report.exit))

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Effect.suspend(() => traffic("c2a", toAgent.rest())),
      Effect.suspend(() => traffic("a2c", fromAgent.rest()))
    )
  )
  return {
    ...link,
    pull: Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(link.pull), (bytes) =>
        bytes === undefined ? Effect.void : traffic("a2c", fromAgent.push(bytes))
      )
    ),
    write: (bytes: Uint8Array) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.tap(restore(link.write(bytes)), () => traffic("c2a", toAgent.push(bytes)))
      ),
    end: Effect.tap(link.end, () => mark("stdin EOF")),
    close: Effect.tap(link.close, ended),
    kill: Effect.tap(link.kill, ended)
  }
})

/** One line of a recording, with its end. */
const trafficLine =
  (dir: Direction, line: string) =>
  (t: number): string => {
    const msg = objectOf(line)
    return `${JSON.stringify(msg === undefined ? { dir, t, raw: line } : { dir, t, msg })}\n`
  }

const markLine =
  (note: string) =>
  (t: number): string =>
    `${JSON.stringify({ dir: "mark", t, note })}\n`

const exitNote = (exit: CleanupReport["exit"]): string => {
  const code = exit._tag === "Code" ? exit.code : null
  const signal = exit._tag === "Signal" ? exit.signal : null
  return `exit code=${code} signal=${signal}`
}

/** `undefined`: not a JSON object. */
const objectOf = (line: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

interface LineSplitter {
  /** The lines that are complete with these bytes, without empty ones. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<string>
  readonly rest: () => ReadonlyArray<string>
}

const lineSplitter = (): LineSplitter => {
  let pieces: Array<Uint8Array> = []
  let held = 0

  const hold = (piece: Uint8Array) => {
    if (piece.length > 0) pieces.push(piece)
    held += piece.length
  }
  const taken = (): string => {
    const line = Buffer.concat(pieces).toString("utf8")
    pieces = []
    held = 0
    return line
  }

  const push = (bytes: Uint8Array): ReadonlyArray<string> => {
    const lines: Array<string> = []
    let start = 0
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      hold(bytes.subarray(start, end))
      lines.push(taken())
      start = end + 1
    }
    hold(bytes.slice(start))
    if (held > limits.frameBytesMax) lines.push(taken())
    return lines.filter((line) => line !== "")
  }
  return { push, rest: () => (held === 0 ? [] : [taken()]) }
}

const lineFeed = 0x0a
