/**
 * A regular expression as a tree: only its structure. What matches one unit of text (a class, an escape, the dot) stays as
 * source, for the engine to judge unit by unit.
 *
 * The syntax is that of `new RegExp(source)` without flags, as a pattern of a question set is read everywhere. Back references,
 * looking behind and modifiers are not taken: no bound holds for the first, nobody was seen to need the others.
 */

export type PatternNode =
  | { readonly _tag: "Unit"; readonly source: string }
  | { readonly _tag: "Anchor"; readonly kind: "start" | "end" | "word" | "notWord" }
  | { readonly _tag: "Sequence"; readonly nodes: ReadonlyArray<PatternNode> }
  | { readonly _tag: "Choice"; readonly branches: ReadonlyArray<PatternNode> }
  | { readonly _tag: "Repeat"; readonly node: PatternNode; readonly min: number; readonly max: number }
  | { readonly _tag: "Ahead"; readonly node: PatternNode; readonly negated: boolean }

/** The tree, or `undefined` for what is not taken. `source` compiles with `new RegExp`. */
export const parsePattern = (source: string): PatternNode | undefined => {
  const reader = { source, at: 0, taken: true }
  const node = choice(reader)
  return reader.taken && reader.at === source.length ? node : undefined
}

interface Reader {
  readonly source: string
  at: number
  /** False once something was met that is not taken. */
  taken: boolean
}

const choice = (reader: Reader): PatternNode => {
  const branches = [sequence(reader)]
  while (reader.taken && reader.source[reader.at] === "|") {
    reader.at += 1
    branches.push(sequence(reader))
  }
  return { _tag: "Choice", branches }
}

const sequence = (reader: Reader): PatternNode => {
  const nodes: Array<PatternNode> = []
  while (reader.taken && reader.at < reader.source.length && !/[|)]/.test(reader.source.charAt(reader.at))) {
    nodes.push(repeated(reader, term(reader)))
  }
  return { _tag: "Sequence", nodes }
}

/** Greedy or not makes no difference to whether there is a match. */
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y

const repeated = (reader: Reader, node: PatternNode): PatternNode => {
  const [text, sign, min, comma, max] = matchAt(reader, quantifier) ?? [""]
  if (text === "") return node
  reader.at += text.length
  if (sign !== undefined) return { _tag: "Repeat", node, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity }
  const least = Number(min)
  return { _tag: "Repeat", node, min: least, max: comma === undefined ? least : max ? Number(max) : Infinity }
}

const matchAt = ({ source, at }: Reader, pattern: RegExp): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(source)
}

const term = (reader: Reader): PatternNode => {
  switch (reader.source[reader.at]) {
    case "^":
      return anchor(reader, 1, "start")
    case "$":
      return anchor(reader, 1, "end")
    case "(":
      return group(reader)
    case "[":
      return unit(reader, classText)
    case "\\":
      return escaped(reader)
    default:
      return unit(reader, anyUnit)
  }
}

const anyUnit = /[^]/y
const classText = /\[(?:\\[^]|[^\]\\])*\]/y

const unit = (reader: Reader, pattern: RegExp): PatternNode => {
  const text = matchAt(reader, pattern)?.[0]
  if (text === undefined) return refused(reader)
  reader.at += text.length
  return { _tag: "Unit", source: text }
}

const anchor = (reader: Reader, length: number, kind: "start" | "end" | "word" | "notWord"): PatternNode => {
  reader.at += length
  return { _tag: "Anchor", kind }
}

const refused = (reader: Reader): PatternNode => {
  reader.taken = false
  return { _tag: "Sequence", nodes: [] }
}

const groupStart = /\((?:\?(?::|=|!|<[^=!][^>]*>))?/y

const group = (reader: Reader): PatternNode => {
  const start = matchAt(reader, groupStart)?.[0] ?? ""
  reader.at += start.length
  if (start === "(" && reader.source[reader.at] === "?") return refused(reader)
  const node = choice(reader)
  if (!reader.taken || reader.source[reader.at] !== ")") return refused(reader)
  reader.at += 1
  return start === "(?=" || start === "(?!" ? { _tag: "Ahead", node, negated: start === "(?!" } : node
}

/** One unit. A digit and `k` may refer back; an octal or a half control escape is written by nobody. */
const escapedUnit = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|c[A-Za-z]|0(?!\d)|[^\dck])/y

const escaped = (reader: Reader): PatternNode => {
  switch (reader.source[reader.at + 1]) {
    case "b":
      return anchor(reader, 2, "word")
    case "B":
      return anchor(reader, 2, "notWord")
    default:
      return unit(reader, escapedUnit)
  }
}
