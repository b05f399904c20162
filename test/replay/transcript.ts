/**
 * Recorded traffic of one agent, as it stands in a file: one JSON object per line.
 *
 *     {"dir":"c2a","t":12,"msg":{...}}    a frame of the host; `a2c`: of the agent; `t`: milliseconds since the start
 *     {"dir":"a2c","t":12,"raw":"..."}    a line that is no frame
 *     {"dir":"mark","t":12,"note":"..."}  what was seen beside the wire: signals, the end of the input, the exit
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "../../src/testing/FakeLinks.ts"
import type { ProcessExit } from "../../src/services/Os.ts"

export type Line = { readonly t: number } & (
  | { readonly _tag: "Frame"; readonly from: "host" | "agent"; readonly frame: Json }
  | { readonly _tag: "Raw"; readonly from: "host" | "agent"; readonly text: string }
  | { readonly _tag: "Mark"; readonly note: string }
)

/** `name`: folder and file, below the folder that was read. */
export interface Transcript {
  readonly name: string
  readonly lines: ReadonlyArray<Line>
}

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Throws when the text is no transcript: it is data of ours. */
export const parseTranscript = (name: string, text: string): Transcript => ({
  name,
  lines: text
    .split("\n")
    .flatMap((line, index) => (line === "" ? [] : [lineOf(JSON.parse(line), `${name}:${index + 1}`)]))
})

const lineOf = (value: unknown, where: string): Line => {
  const { dir, t, msg, raw, note } = isJson(value) ? value : {}
  if (typeof t !== "number") throw new Error(`${where}: no time`)
  if (dir === "mark" && typeof note === "string") return { _tag: "Mark", t, note }
  if (dir !== "c2a" && dir !== "a2c") throw new Error(`${where}: unknown direction`)
  const from = dir === "c2a" ? "host" : "agent"
  if (isJson(msg)) return { _tag: "Frame", from, t, frame: msg }
  return { _tag: "Raw", from, t, text: typeof raw === "string" ? raw : JSON.stringify(msg) }
}

/** Every `FOLDER/NAME.jsonl` below `root`, by name. */
export const readTranscripts = (root: string): ReadonlyArray<Transcript> =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((folder) => readdirSync(join(root, folder.name)).map((file) => `${folder.name}/${file}`))
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => parseTranscript(name, readFileSync(join(root, name), "utf8")))

/** `exit code=0 signal=null`; `undefined` for any other mark. */
export const exitOf = (note: string): ProcessExit | undefined => {
  const [, code, signal] = /^exit code=(\d+|null) signal=(\w+)$/.exec(note) ?? []
  if (signal === undefined) return undefined
  if (code !== "null") return { _tag: "Code", code: Number(code) }
  return signal === "null" ? { _tag: "Unknown", reason: "not recorded" } : { _tag: "Signal", signal, inferred: false }
}

export const exitNote = (exit: ProcessExit): string => {
  const code = exit._tag === "Code" ? exit.code : null
  const signal = exit._tag === "Signal" ? exit.signal : null
  return `exit code=${code} signal=${signal}`
}

export const inputEnded = "stdin EOF"
