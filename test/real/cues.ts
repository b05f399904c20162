/** What an agent is to do in a turn, told to it in its own way: by words that it follows itself, or by the model behind it. */
import type { ModelCall, ModelScript } from "../../src/programs/demoModel.ts"

export type Cue =
  | { readonly _tag: "Say"; readonly text: string }
  | { readonly _tag: "Run"; readonly command: string }
  /** A command that does not end by itself. Nothing is said behind it either, however long the agent waits for it. */
  | { readonly _tag: "Stay"; readonly command: string }
  /** A file of one line. */
  | { readonly _tag: "Create"; readonly path: string; readonly line: string }
  /** Says a word and then nothing, without an end. */
  | { readonly _tag: "Wait" }

/** How the model behind an agent calls the agent's tools. */
export interface Tools {
  readonly run: (command: string) => ModelCall
  readonly create: (path: string, line: string) => ModelCall
}

/** In the rules of the bundled agent. To the others they are just a prompt. */
export const wordsOf = (cue: Cue): string => {
  switch (cue._tag) {
    case "Say":
      return `say ${cue.text}`
    case "Run":
    case "Stay":
      return `run: ${cue.command}`
    case "Create":
      return `create ${cue.path.split("/").at(-1)} with "${cue.line}"`
    case "Wait":
      return "wait"
  }
}

export const scriptOf = (cue: Cue, tools: Tools): ModelScript => {
  switch (cue._tag) {
    case "Say":
      return [{ text: cue.text }]
    case "Run":
      return [{ calls: [tools.run(cue.command)] }, { text: "done" }]
    case "Stay":
      return [{ calls: [tools.run(cue.command)] }, { hang: true }]
    case "Create":
      return [{ calls: [tools.create(cue.path, cue.line)] }, { text: "done" }]
    case "Wait":
      return [{ text: "waiting", hang: true }]
  }
}
