/**
 * `npm start`: a real run of the command in a scratch workspace. The bundled agent edits a real file and runs a real command;
 * then the change of the file is shown as it is on disk, and last the line in which the command says what became of its
 * processes. The workspace is removed.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { lineDiff } from "../src/schema/prp/lineDiff.ts"

const greenroom = resolve(import.meta.dirname, "../bin/greenroom.js")
const task = 'add "- wait in the green room" to TODO.md run: wc -l TODO.md'
const before = "- learn the lines\n"

interface Ended {
  readonly code: number
  readonly lastLine: string
}

/** Passes everything on as it comes, but for the last line of stderr. */
const finished = (command: string, args: ReadonlyArray<string>, cwd: string): Promise<Ended> =>
  new Promise((done) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "inherit", "pipe"] })
    let held = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      held += text
      const cut = held.lastIndexOf("\n", held.length - 2) + 1
      process.stderr.write(held.slice(0, cut))
      held = held.slice(cut)
    })
    child.on("error", (error) => done({ code: 1, lastLine: `${error.message}\n` }))
    child.on("close", (code) => done({ code: code ?? 1, lastLine: held }))
  })

// The command takes a Ctrl-C itself, and this waits for it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined)

const workspace = mkdtempSync(join(tmpdir(), "greenroom-start-"))
try {
  const file = join(workspace, "TODO.md")
  writeFileSync(file, before)
  console.log(`$ greenroom run --policy approve-all '${task}'`)
  const { code, lastLine } = await finished(
    process.execPath,
    [greenroom, "run", "--policy", "approve-all", task],
    workspace
  )
  console.log(`\n${lineDiff("TODO.md", before, readFileSync(file, "utf8")).text}`)
  process.stderr.write(lastLine)
  process.exitCode = code
} finally {
  rmSync(workspace, { recursive: true, force: true })
}
