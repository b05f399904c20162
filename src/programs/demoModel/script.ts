/** What the demo model is told to say: one turn for each request that offers tools. */

export interface ModelCall {
  readonly name: string
  readonly args?: Readonly<Record<string, unknown>>
  readonly id?: string
}

export interface ModelTurn {
  readonly text?: string
  readonly calls?: ReadonlyArray<ModelCall>
  /** Keeps the answer open behind the text until the client disconnects. */
  readonly hang?: boolean
  /** Pause behind each word. */
  readonly chunkDelayMs?: number
  /** Fails with this HTTP status instead. */
  readonly status?: number
}

export type ModelScript = ReadonlyArray<ModelTurn>

/** Throws an `Error` in words for the user when the text is not a script. */
export const parseScript = (text: string): ModelScript => {
  const script: unknown = JSON.parse(text)
  if (!Array.isArray(script)) throw new Error("a script is an array of turns")
  return script.map((turn: unknown, index) => {
    if (!isTurn(turn)) throw new Error(`turn ${index} of the script is not a turn`)
    return turn
  })
}

const isTurn = (value: unknown): value is ModelTurn => {
  if (!isRecord(value)) return false
  const { text, calls, hang, chunkDelayMs, status } = value
  return (
    (text === undefined || typeof text === "string") &&
    (hang === undefined || typeof hang === "boolean") &&
    (chunkDelayMs === undefined || typeof chunkDelayMs === "number") &&
    (status === undefined || typeof status === "number") &&
    (calls === undefined ||
      (Array.isArray(calls) && calls.every((call) => isRecord(call) && typeof call["name"] === "string")))
  )
}

export type Json = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)
