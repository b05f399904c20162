/** Runs the cells and tells what happened. */
import * as fs from "node:fs"
import type { CleanupReport } from "../../src/services/AgentLink.ts"
import type { Backend, BackendProbe } from "../../src/services/Os.ts"
import { type Child, children, type Ending, forkStorm, type Guarantee, isHostDeath } from "./cells.ts"
import { clearTagged, freshTag, startSentinel, tagged, waitUntil } from "./processes.ts"
import { type Host, makeFolder, shellLaunch, startHost } from "./startHost.ts"

export interface Result {
  readonly backend: Backend
  readonly what: string
  readonly ending: Ending
  readonly guarantee: Guarantee
  readonly outcome: "ended" | "survived"
  readonly passed: boolean
  readonly detail: string
}

interface Tagged {
  readonly child: Child
  readonly tag: string
}

/** All kinds of children at once under one ending. */
export const runChildren = async (backend: Backend, ending: Ending, user?: number): Promise<ReadonlyArray<Result>> => {
  const present = children.filter(({ atTerm }) => atTerm !== true || ending === "close")
  const all = present.map((child): Tagged => ({ child, tag: freshTag() }))
  const [atOnce, atTerm] = [all.filter(({ child }) => !child.atTerm), all.filter(({ child }) => child.atTerm)]
  const text = [`trap '${textOf(atTerm)}; exit 0' TERM`, textOf(atOnce), "wait", "wait"].join("\n")
  const run = await endOne({
    backend,
    ending,
    text,
    user,
    isReady: () => atOnce.every(({ tag }) => tagged(tag).length > 0)
  })
  const results = await Promise.all(all.map(({ child, tag }) => judge(run, child.name, child.guarantee[backend], tag)))
  const agent = await judge(run, "the agent itself", "ended", run.tag)
  return [...results, agent, judgeSentinel(run), ...(isHostDeath(ending) ? [] : [judgeReport(run)])]
}

/** An ending in the middle of a fork storm. */
export const runForkStorm = async (backend: Backend, ending: Ending): Promise<ReadonlyArray<Result>> => {
  const tag = freshTag()
  const text = `${forkStorm.replace("$TAG", tag)}\nwait`
  const run = await endOne({ backend, ending, text, isReady: () => tagged(tag).length > 50 })
  return [
    await judge(run, "in a fork storm", "ended", tag),
    await judge(run, "the agent of the storm", "ended", run.tag)
  ]
}

interface Run {
  readonly backend: Backend
  readonly ending: Ending
  /** Of the agent. */
  readonly tag: string
  readonly report: CleanupReport | undefined
  readonly sentinelLives: boolean
}

interface RunOptions {
  readonly backend: Backend
  readonly ending: Ending
  readonly text: string
  readonly isReady: () => boolean
  readonly user?: number | undefined
}

const endOne = async ({ backend, ending, isReady, text, user }: RunOptions): Promise<Run> => {
  const ledgerFolder = makeFolder()
  const sentinel = startSentinel()
  const tag = freshTag()
  try {
    const launches = [shellLaunch(text, tag, backend)]
    const host = await startHost({ ledgerFolder, launches, ...(user === undefined ? {} : { user }) })
    if (!(await waitUntil(isReady))) throw new Error(`the agent did not start its children: ${host.stderr()}`)
    const report = await end(host, ending)
    // What is to be gone is looked for now in the case of a report, and as long as it takes after the death of a host.
    if (isHostDeath(ending)) await host.exited
    else if (tagged(tag).length > 0) throw new Error("the report came before the end of the agent")
    const run = { backend, ending, tag, report, sentinelLives: sentinel.isAlive() }
    if (!isHostDeath(ending)) host.signal("SIGKILL")
    return run
  } finally {
    sentinel.stop()
    fs.rmSync(ledgerFolder, { recursive: true, force: true })
  }
}

const end = async (host: Host, ending: Ending): Promise<CleanupReport | undefined> => {
  if (ending === "close" || ending === "kill") return (await host.order(ending)).reports?.[0]
  if (ending === "SIGKILL" || ending === "SIGHUP") host.signal(ending)
  else host.tell(ending === "process.exit" ? "exit" : "throw")
  return undefined
}

/** A proven end is looked at once; the end after a host's death, and what nobody promised, is waited for. */
const judge = async (run: Run, what: string, guarantee: Guarantee, tag: string): Promise<Result> => {
  const boundMs = guarantee === "not covered" ? notCoveredMs : isHostDeath(run.ending) ? hostDeathMs : 0
  const isGone = await waitUntil(() => tagged(tag).length === 0, boundMs)
  const left = clearTagged(tag)
  return {
    backend: run.backend,
    what,
    ending: run.ending,
    guarantee,
    outcome: isGone ? "ended" : "survived",
    passed: isGone || guarantee === "not covered",
    detail: left === 0 ? "" : `${left} left`
  }
}

const hostDeathMs = 15_000
const notCoveredMs = 1_500

const judgeSentinel = (run: Run): Result => ({
  backend: run.backend,
  what: "an unrelated process",
  ending: run.ending,
  guarantee: "survives",
  outcome: run.sentinelLives ? "survived" : "ended",
  passed: run.sentinelLives,
  detail: ""
})

const judgeReport = (run: Run): Result => {
  const isClean = run.report?.survivors.length === 0
  const seen = run.report?.processesSeen ?? 0
  return {
    backend: run.backend,
    what: "the report says so",
    ending: run.ending,
    guarantee: "ended",
    outcome: isClean ? "ended" : "survived",
    passed: isClean && seen > children.length - 2,
    detail: `${run.report?.steps.join(", ")}; ${seen} processes seen`
  }
}

const textOf = (some: ReadonlyArray<Tagged>) =>
  some.length === 0 ? ":" : some.map(({ child, tag }) => child.start.replace("$TAG", tag)).join("\n")

/** What a host of its own, perhaps of another user, says of the backends. */
export const probedBackends = async (user?: number): Promise<ReadonlyArray<BackendProbe>> => {
  const ledgerFolder = makeFolder()
  const host = await startHost({ ledgerFolder, launches: [], ...(user === undefined ? {} : { user }) })
  const { backends = [] } = await host.order("backends")
  await host.order("release")
  await host.exited
  fs.rmSync(ledgerFolder, { recursive: true, force: true })
  return backends
}
