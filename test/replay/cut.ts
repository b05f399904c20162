/** A transcript that ends early, at any of its lines: what a host sees of an agent that dies, or that it leaves, right there. */
import type { Transcript } from "./transcript.ts"

export type Ending = "killed" | "closed"

/** The first `count` lines. `killed`: then the agent dies by SIGKILL. `closed`: our host closes the session there. */
export const cutAfter = (transcript: Transcript, count: number, ending: Ending): Transcript => {
  const lines = transcript.lines.slice(0, count)
  const t = lines.at(-1)?.t ?? 0
  const death = { _tag: "Mark", t, note: "exit code=null signal=SIGKILL" } as const
  return {
    name: `${transcript.name}, ${ending} after line ${count}`,
    lines: ending === "killed" ? [...lines, death] : lines
  }
}
