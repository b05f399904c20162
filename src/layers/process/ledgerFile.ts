/**
 * The file of one ledger: how it is written so that it survives a crash of its host at any moment, and how it is read after one.
 * It tells of processes, which do not survive the machine, so nothing waits for the disk: what the kernel has taken is enough.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { LedgerEntry } from "../../services/Os.ts"

const LedgerHost = Schema.Struct({
  pid: Schema.Number,
  startTime: Schema.String,
  bootId: Schema.String,
  pidNamespace: Schema.String,
  /** `null`: the machine has no name of its own. */
  machine: Schema.NullOr(Schema.String)
})
export type LedgerHost = typeof LedgerHost.Type

const Begun = Schema.Struct({
  begun: Schema.String,
  backend: Schema.Literals(["namespace", "marked"]),
  command: Schema.String,
  home: Schema.optionalKey(Schema.String)
})
const Ended = Schema.Struct({ ended: Schema.String })
/** Of a launch whose own lines are no longer there. */
const Home = Schema.Struct({ home: Schema.String })

const decodeHost = Schema.decodeUnknownResult(LedgerHost)
const decodeLine = Schema.decodeUnknownResult(Schema.Union([Begun, Ended, Home]))

export interface ParsedLedger {
  readonly host: LedgerHost
  /** The launches that did not end. */
  readonly entries: ReadonlyArray<LedgerEntry>
  /** Of all launches: a home may outlive its launch. */
  readonly homes: ReadonlyArray<string>
}

/** `undefined` without a whole first line. Other lines that are not whole are passed over: their launch never started. */
export const parseLedger = (text: string): ParsedLedger | undefined => {
  const [first, ...rest] = text.split("\n")
  const host = Result.flatMap(parseJson(first ?? ""), decodeHost)
  if (Result.isFailure(host)) return undefined
  const entries = new Map<string, LedgerEntry>()
  const homes = new Set<string>()
  for (const line of rest) {
    const decoded = Result.flatMap(parseJson(line), decodeLine)
    if (Result.isFailure(decoded)) continue
    if ("ended" in decoded.success) {
      entries.delete(decoded.success.ended)
      continue
    }
    const { home } = decoded.success
    if (home !== undefined) homes.add(home)
    if (!("begun" in decoded.success)) continue
    const { backend, begun, command } = decoded.success
    entries.set(begun, {
      marker: begun,
      backend,
      command,
      identity: undefined,
      ...(home === undefined ? {} : { home })
    })
  }
  return { host: host.success, entries: [...entries.values()], homes: [...homes] }
}

const parseJson = (text: string): Result.Result<unknown, unknown> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: (error) => error })

/** Not for concurrent use. Folders are 0700 and files 0600: commands and markers are nobody else's business. */
export const ledgerFile = (folder: string, host: LedgerHost) => {
  const name = path.join(folder, "launches.ndjson")
  let opened: fs.FileHandle | undefined
  // The last write failed and may have left part of a line.
  let torn = false

  const create = async (file: string, lines: ReadonlyArray<string>) => {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    const handle = await fs.open(file, "w", 0o600)
    await handle.appendFile([JSON.stringify(host), ...lines, ""].join("\n"))
    return handle
  }
  /** The kernel has it when it returns. */
  const append = async (lines: ReadonlyArray<string>) => {
    await prepare()
    const text = [...lines, ""].join("\n")
    const before = torn ? "\n" : ""
    torn = true
    await opened?.appendFile(before + text)
    torn = false
  }
  /** Makes the file, so that the first launch need not wait for it. */
  const prepare = async () => {
    if (opened !== undefined) return
    opened = await create(name, [])
  }
  const appendLazily = async (line: string) => {
    await opened?.appendFile(`${torn ? "\n" : ""}${line}\n`)
  }
  /** Replaces all lines behind the host's at once. */
  const rewrite = async (lines: ReadonlyArray<string>) => {
    const next = await create(`${name}.next`, lines)
    await fs.rename(`${name}.next`, name)
    await opened?.close()
    opened = next
  }
  const close = async (remove: boolean) => {
    await opened?.close()
    if (opened !== undefined && remove) await fs.rm(folder, { recursive: true, force: true })
    opened = undefined
  }
  return { prepare, append, appendLazily, rewrite, close }
}
