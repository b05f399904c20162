/** The real command on a pseudo terminal, and what a person sees on it. */
import { type IPty, spawn } from "@lydell/node-pty"
import { program, type World } from "./greenroom.ts"

export interface Terminal {
  /** Everything that was written to the terminal. */
  readonly output: () => string
  /** What stands on it, without colours. */
  readonly screen: () => string
  readonly press: (keys: string) => void
  readonly ended: Promise<number>
}

export const columns = 100
export const rows = 40

export const startOnTerminal = (
  world: World,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Terminal => terminalOf(world, [process.execPath, program, ...args], env)

/** `script` finds the command in `"$@"`. */
export const startShellOnTerminal = (world: World, script: string, args: ReadonlyArray<string>): Terminal =>
  terminalOf(world, ["/bin/sh", "-c", script, "sh", process.execPath, program, ...args], {})

const terminalOf = (
  world: World,
  [command = "", ...args]: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): Terminal => {
  const pty: IPty = spawn(command, args, {
    cols: columns,
    rows,
    cwd: world.workspace,
    env: { ...world.env, TERM: "xterm-256color", ...env }
  })
  let output = ""
  pty.onData((text) => (output += text))
  const ended = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)))
  return {
    output: () => output,
    screen: () => screenOf(output),
    press: (keys) => pty.write(keys),
    ended
  }
}

/** Knows what the command uses: colours, line ends, up, and clear to the end. Nothing ever scrolls away. */
export const screenOf = (output: string): string => {
  const lines: Array<string> = [""]
  let row = 0
  let column = 0
  for (const [piece, , parameter = "", final] of output.matchAll(pieces)) {
    if (piece === "\r") column = 0
    else if (piece === "\n") {
      row++
      lines[row] ??= ""
    } else if (final === "A") row = Math.max(0, row - Number(parameter))
    else if (final === "J") {
      lines.length = row + 1
      lines[row] = (lines[row] ?? "").slice(0, column)
    } else if (final === undefined) {
      const line = lines[row] ?? ""
      lines[row] = line.slice(0, column).padEnd(column) + piece + line.slice(column + piece.length)
      column += piece.length
    } else if (final !== "m") throw new Error(`an unknown sequence: ${JSON.stringify(piece)}`)
  }
  return lines.join("\n")
}

// oxlint-disable-next-line no-control-regex -- control sequences are what it reads
const pieces = /(\u001b\[([0-9;]*)([A-Za-z]))|\r|\n|[^\u001b\r\n]+/g
