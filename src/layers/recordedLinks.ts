/**
 * Records the raw traffic of every link as JSON Lines, so that it can be replayed:
 *
 *     {"dir":"c2a","t":12,"msg":{...}}
 *
 * `dir`: `c2a` to the agent, `a2c` from it. `t`: milliseconds since the link was opened. A line that is not JSON stands as text
 * under `raw`. What goes to the agent is recorded once the operating system took it.
 *
 * Bounds: a line of more than `frameBytesMax` is recorded in pieces, under `raw`. The lines hold whatever the traffic holds,
 * secrets included.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { limits } from "../schema/limits.ts"
import { type AgentLink, AgentLinks } from "../services/AgentLink.ts"

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

  const record = Effect.fnUntraced(function* (dir: Direction, lines: ReadonlyArray<string>) {
    const t = (yield* Clock.currentTimeMillis) - startMs
    if (lines.length > 0) yield* write(lines.map((line) => trafficLine(dir, t, line)).join(""))
  })

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      record("c2a", toAgent.rest()),
      Effect.suspend(() => record("a2c", fromAgent.rest()))
    )
  )
  return {
    ...link,
    pull: Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(link.pull), (bytes) =>
        bytes === undefined ? Effect.void : record("a2c", fromAgent.push(bytes))
      )
    ),
    write: (bytes: Uint8Array) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.tap(restore(link.write(bytes)), () => record("c2a", toAgent.push(bytes)))
      )
  }
})

/** One line of a recording, with its end. */
export const trafficLine = (dir: Direction, t: number, line: string): string => {
  const msg = jsonOf(line)
  return `${JSON.stringify(msg === undefined ? { dir, t, raw: line } : { dir, t, msg })}\n`
}

/** `undefined`: not JSON. */
const jsonOf = (line: string): unknown => {
  try {
    return JSON.parse(line)
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
