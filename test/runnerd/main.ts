/**
 * `npm run crash`: kills a runner with SIGKILL right before and right after every commit of a run with a permission, and looks
 * what it is after a restart.
 *
 * Prints a line per crash and, as the last line, `{"ok": ..., "figures": {...}}`. The exit code agrees.
 */
import { type Crash, crashAt } from "./crashes.ts"
import type { KillPoint } from "./daemon.ts"

/** Two at a time: most of a crash is waiting. */
const lanes = 2

const main = async () => {
  const crashes: Array<Crash> = []
  const points = everyPoint()
  const lane = async () => {
    for (const kill of points) {
      const crash = await crashAt(kill)
      crashes.push(crash)
      console.log(lineOf(crash))
      // The run has no more commits than that.
      if (crash.commit === undefined) points.return()
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const made = crashes.filter(({ commit }) => commit !== undefined)
  const sum = (of: (crash: Crash) => number) => crashes.reduce((total, crash) => total + of(crash), 0)
  const figures = {
    steps: made.length,
    lost: sum(({ lost }) => lost.length),
    duplicated: sum(({ duplicated }) => duplicated.length),
    broken: sum(({ broken }) => broken.length),
    survivors: sum(({ survivors }) => survivors),
    requestsOpen: made.filter(({ found }) => found === "a request open").length
  }
  const { broken, duplicated, lost, requestsOpen, steps, survivors } = figures
  const ok = steps > 0 && requestsOpen > 0 && lost + duplicated + broken + survivors === 0
  console.log(JSON.stringify({ ok, figures }))
  process.exitCode = ok ? 0 : 1
}

const everyPoint = function* (): Generator<KillPoint, void> {
  for (let commit = 1; ; commit++) {
    yield { commit, side: "before" }
    yield { commit, side: "after" }
  }
}

const lineOf = ({ broken, commit, duplicated, found, kill, lost, survivors }: Crash): string => {
  const wrong = [...lost.map((what) => `lost ${what}`), ...duplicated.map((what) => `twice ${what}`), ...broken]
  const left = survivors === 0 ? "" : `, ${survivors} processes left`
  return `${wrong.length + survivors === 0 ? "ok " : "BAD"} ${kill.side.padEnd(6)} ${String(kill.commit).padStart(3)} ${
    commit ?? "(no such commit)"
  }: found ${found}${left}${wrong.length === 0 ? "" : `; ${wrong.join("; ")}`}`
}

if (import.meta.main) await main()
