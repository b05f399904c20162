/** Hosts that share a folder of ledgers: what a start reaps, and what it must not touch. */
import * as fs from "node:fs"
import * as path from "node:path"
import type { Backend } from "../../src/services/Os.ts"
import { clearTagged, freshTag, lookAround, sendKill, tagged, waitUntil } from "./processes.ts"
import { makeFolder, shellLaunch, startHost } from "./startHost.ts"

export interface LedgerRun {
  /** The dead host left something for the third to find. */
  readonly wasLeft: boolean
  readonly deadReaped: boolean
  readonly deadLedgerGone: boolean
  readonly liveUntouched: boolean
}

/** A host is killed together with its guardian, a second one lives, a third one starts. */
export const runLedgers = async (backend: Backend): Promise<LedgerRun> => {
  const ledgerFolder = makeFolder()
  const [deadTag, liveTag] = [freshTag(), freshTag()]
  const launch = (tag: string) => ({ ledgerFolder, launches: [shellLaunch("while :; do sleep 1; done", tag, backend)] })
  const dead = await startHost(launch(deadTag))
  const deadLedger = path.join(ledgerFolder, fs.readdirSync(ledgerFolder)[0] ?? "none")
  const live = await startHost(launch(liveTag))
  try {
    // The guardian first, and both before a new one can be there: nobody but the third host is left to do it.
    const guardian = lookAround().find(
      ({ command, parent }) => parent === dead.pid && command.endsWith(" greenroom-guardian")
    )
    if (guardian !== undefined) sendKill(guardian.pid)
    dead.signal("SIGKILL")
    await dead.exited
    const wasLeft = backend === "namespace" || tagged(deadTag).length > 0
    const third = await startHost({ ledgerFolder, launches: [] })
    const deadReaped = await waitUntil(() => tagged(deadTag).length === 0)
    const deadLedgerGone = await waitUntil(() => !fs.existsSync(deadLedger))
    const liveUntouched =
      tagged(liveTag).length > 0 && fs.readdirSync(ledgerFolder).some((name) => name.startsWith(`${live.pid}-`))
    await third.order("release")
    await third.exited
    return { wasLeft, deadReaped, deadLedgerGone, liveUntouched }
  } finally {
    await live.order("release")
    for (const tag of [deadTag, liveTag]) clearTagged(tag)
    fs.rmSync(ledgerFolder, { recursive: true, force: true })
  }
}
