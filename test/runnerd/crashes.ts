/**
 * A runner is killed right before and right after each of its commits, while a control plane takes a run through a permission;
 * then it is started again.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { waitUntil } from "../process/processes.ts"
import { type Book, converse, inOrder, newBook, runId, turnId } from "./controlPlane.ts"
import type { KillPoint } from "./daemon.ts"
import { clearProcesses, type Daemon, makeDaemonFolder, processesOf, startDaemon } from "./startDaemon.ts"

export interface Crash {
  readonly kill: KillPoint
  /** What the commit was about; `undefined`: there were not so many, and nobody was killed. */
  readonly commit: string | undefined
  /** How the restarted runner found the run. */
  readonly found: string
  readonly lost: ReadonlyArray<string>
  readonly duplicated: ReadonlyArray<string>
  readonly broken: ReadonlyArray<string>
  readonly survivors: number
}

export const crashAt = async (kill: KillPoint): Promise<Crash> => {
  const folder = makeDaemonFolder()
  const workspace = path.join(folder, "workspace")
  const book = newBook()
  try {
    const first = await startDaemon({ folder, kill })
    const isThrough = await converseWith(first, folder, workspace, book)
    const { signal } = await first.exited
    if (isThrough && signal === null) return { ...judged(kill, undefined, book, workspace), survivors: 0 }
    const commit = first.commits().at(-1)
    const areGone = await waitUntil(() => processesOf(folder).length === 0, 20_000)
    const survivors = areGone ? 0 : clearProcesses(folder)
    const second = await startDaemon({ folder })
    if (!(await converseWith(second, folder, workspace, book))) throw new Error(`not through: ${second.stderr()}`)
    const { code } = await second.exited
    const left = (await waitUntil(() => processesOf(folder).length === 0, 20_000)) ? 0 : clearProcesses(folder)
    const crash = judged(kill, commit, book, workspace)
    return {
      ...crash,
      broken: code === 0 ? crash.broken : [...crash.broken, `the second life ended with ${code}: ${second.stderr()}`],
      survivors: survivors + left
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** `false` when the runner is gone, or was before anybody could connect. */
const converseWith = (daemon: Daemon, folder: string, workspace: string, book: Book): Promise<boolean> =>
  Promise.race([
    converse(folder, workspace, book).catch((error: unknown) => {
      if (isGone(error)) return false
      throw error
    }),
    daemon.exited.then(() => false)
  ])

const isGone = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag !== "NeverHeard"

const judged = (
  kill: KillPoint,
  commit: string | undefined,
  book: Book,
  workspace: string
): Omit<Crash, "survivors"> => {
  const events = inOrder(book)
  const types = events.map(({ eventType }) => eventType)
  const count = (isIt: (type: string) => boolean) => types.filter(isIt).length
  const lost = [
    ...events.flatMap(({ sourceSeq }, n) => (sourceSeq === n + 1 ? [] : [`number ${n + 1}`])).slice(0, 1),
    ...book.changed
  ]
  const effects = linesOf(path.join(workspace, "effect.txt"))
  const duplicated = [...book.duplicated, ...(effects > 1 ? [`the effect, ${effects} times`] : [])]
  const terminals = count((type) => turnTerminals.has(type))
  const submitted = count((type) => type === "turn.submitted")
  const created = count((type) => type === "runtime_request.created")
  const ended = count((type) => requestEnds.has(type))
  const expired = events.find(({ eventType }) => eventType === "runtime_request.expired")
  const broken = [
    ...(events.every((event) => event.runId === runId) ? [] : ["an event of another run"]),
    ...(events.every((event) => event.turnId === undefined || event.turnId === turnId) ? [] : ["another turn"]),
    ...(submitted === terminals && terminals <= 1 ? [] : [`${submitted} turns, ${terminals} terminals`]),
    ...(created === ended && created <= 1 ? [] : [`${created} requests, ${ended} ended`]),
    ...(count((type) => type === "run.terminal") === 1 && types.at(-1) === "run.terminal" ? [] : ["the run's end"]),
    ...(expired === undefined || expired.payload["reason"] === "provider_process_lost"
      ? []
      : ["why a request expired"]),
    ...(commit === undefined && effects !== 1 ? ["no effect"] : [])
  ]
  return { kill, commit, found: foundAs(types), lost, duplicated, broken }
}

const turnTerminals = new Set(["turn.completed", "turn.failed", "turn.interrupted", "turn.cancelled"])
const requestEnds = new Set(["runtime_request.resolved", "runtime_request.expired", "runtime_request.cancelled"])

const foundAs = (types: ReadonlyArray<string>): string => {
  if (!types.includes("runner.reconciled")) return types.length === 0 ? "nothing" : "whole"
  return types.includes("runtime_request.expired")
    ? "a request open"
    : types.includes("turn.failed")
      ? "a turn open"
      : "a session"
}

const linesOf = (file: string): number =>
  fs.existsSync(file)
    ? fs
        .readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "").length
    : 0
