/** Colours for a terminal, or none at all: whoever writes lines need not know which. */

export interface Paint {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

export const plain: Paint = {
  bold: (text) => text,
  dim: (text) => text,
  red: (text) => text,
  green: (text) => text,
  yellow: (text) => text,
  cyan: (text) => text
}

const sgr = (on: number, off: number) => (text: string) => (text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`)

export const coloured: Paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  cyan: sgr(36, 39)
}

/** Colours only on a terminal that has them, and never against NO_COLOR (any value that is not empty). */
export const paintFor = (isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Paint =>
  isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb" ? coloured : plain
