import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { harnessBounds } from "../../fixtures/agents/harness/bounds.ts"
import type { Step } from "../../fixtures/agents/harness/script.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"
import { probedBackends } from "../process/matrix.ts"
import { lookAround, waitUntil } from "../process/processes.ts"
import { makeFolder } from "../process/startHost.ts"
import { commandLine } from "./controller.ts"
import { problemsOf } from "./judge.ts"
import { eventsOf, receiptsOf } from "./messages.ts"
import { playFile, type PlayOptions, type Played } from "./play.ts"

const folder = makeFolder()
const scripts = path.join(import.meta.dirname, "../../fixtures/agents/harness/scripts")
const probes = await probedBackends()
const usable = probes.flatMap((one) => (one.usable ? [one.backend] : []))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const play = (name: string, more: Partial<PlayOptions> = {}): Promise<Played> =>
  playFile({ file: path.join(scripts, `${name}.json`), ledgerFolder: folder, ...more })

const playSteps = (name: string, steps: ReadonlyArray<Step>): Promise<Played> => {
  const file = path.join(folder, `${name}.json`)
  fs.writeFileSync(file, JSON.stringify({ schema: "paperclip.fake_harness.script.v1", name, steps }))
  return playFile({ file, ledgerFolder: folder })
}

const endOf = ({ messages }: Played) => {
  const end = eventsOf(messages).at(-1)?.payload
  return {
    turn: nativeAt(end, "turnTerminalState"),
    run: nativeAt(end, "runTerminalState"),
    disposition: nativeAt(end, "reportedWorkDisposition"),
    reason: nativeAt(end, "reconciliation", "reason"),
    exitCode: nativeAt(end, "reconciliation", "processExit", "exitCode")
  }
}

const accepted = (count: number) =>
  Array.from({ length: count }, (_, index) => `${index + 1} accepted: command applied`)

describe("a fake harness under the local runner", { timeout: 120_000 }, () => {
  it("plays the happy path", async () => {
    const played = await play("happy-path")
    expect(problemsOf(played)).toEqual([])
    expect(receiptsOf(played.messages)).toEqual(accepted(3))
    expect(endOf(played)).toEqual({
      turn: "completed",
      run: "succeeded",
      disposition: "done",
      reason: "successful_process_and_result",
      exitCode: 0
    })
    expect(nativeAt(eventsOf(played.messages).at(-2)?.payload, "logs", "lines")).toEqual([
      "stdout: compiling 3 files",
      "stdout: linking",
      "stderr: a warning, on the other stream"
    ])
  })

  it("waits for the answers to its requests, and repeats them", async () => {
    const played = await play("permission-input")
    expect(problemsOf(played)).toEqual([])
    expect(receiptsOf(played.messages)).toEqual(accepted(5))
    const resolved = eventsOf(played.messages).filter(({ eventType }) => eventType === "runtime_request.resolved")
    expect(resolved.map(({ payload }) => payload)).toEqual([
      { requestId: "request_write", response: { action: "accept" } },
      { requestId: "request_title", response: { action: "submit", answers: { answer: { answers: ["as it is"] } } } }
    ])
  })

  it("is interrupted", async () => {
    const played = await play("interrupted")
    expect(problemsOf(played)).toEqual([])
    expect(endOf(played)).toEqual({
      turn: "interrupted",
      run: "cancelled",
      disposition: "yielded",
      reason: "turn_interrupted",
      exitCode: 130
    })
  })

  it("fails by its exit code, whatever it says", async () => {
    const played = await play("error")
    expect(problemsOf(played)).toEqual([])
    expect(endOf(played)).toEqual({
      turn: "failed",
      run: "failed",
      disposition: "blocked",
      reason: "harness_process_failed",
      exitCode: 7
    })
  })

  it("counts by its first result and its first terminal", async () => {
    const played = await play("duplicate-terminal")
    expect(problemsOf(played)).toEqual([])
    expect(endOf(played)).toMatchObject({ run: "succeeded", disposition: "needs_review" })
    const codes = eventsOf(played.messages).flatMap(({ eventType, payload }) =>
      eventType === "harness.diagnostic" ? [nativeAt(payload, "code")] : []
    )
    expect(codes).toEqual([
      "duplicate_semantic_result_ignored",
      "duplicate_terminal_ignored",
      "duplicate_terminal_ignored"
    ])
  })

  it.each(usable)("leaves no worker behind under %s", async (backend) => {
    const played = await play("linger", { backend })
    expect(problemsOf(played)).toEqual([])
    expect(played.workersSeen).toBeGreaterThanOrEqual(2)
    expect(played.report).toMatchObject({ survivors: [] })
    expect(endOf(played)).toMatchObject({ reason: "turn_interrupted", exitCode: 130 })
  })

  it("breaks the protocol by a line beyond the bound", async () => {
    const lineBytesMax = 512
    const played = await play("oversized-line", { lineBytesMax })
    expect(problemsOf(played, lineBytesMax)).toEqual([])
    expect(endOf(played)).toMatchObject({ turn: "failed", run: "failed", reason: "harness_protocol_violation" })
    expect(eventsOf(played.messages).map(({ eventType }) => eventType)).not.toContain("item.started")
  })

  it("may say a line of lineBytesMax, and none that is one byte longer", async () => {
    // The first of its messages that is as long as that is its fifth.
    const rest = { schema: "paperclip.fake_harness.message.v1", messageSeq: 5, type: "log" }
    const empty = JSON.stringify({ ...rest, payload: { stream: "stdout", text: "" } }).length
    const log = (bytes: number): Step => ({ kind: "log", stream: "stdout", text: "x".repeat(bytes - empty) })
    const { lineBytesMax } = harnessBounds
    const whole = await playSteps("whole", [log(lineBytesMax)])
    const beyond = await playSteps("beyond", [log(lineBytesMax + 1)])
    expect([whole, beyond].map((played) => endOf(played).reason)).toEqual([
      "semantic_result_missing",
      "harness_protocol_violation"
    ])
    expect([...problemsOf(whole), ...problemsOf(beyond)]).toEqual([])
  })

  it.each<[string, Step]>([
    ["a log of characters that are several bytes", { kind: "log", stream: "stdout", text: "é".repeat(40_000) }],
    ["an event", { kind: "event", event_type: "item.delta", item_id: "item_1", payload: { text: "x".repeat(70_000) } }],
    ["a result", { kind: "result", payload: { summary: "x".repeat(70_000) } }]
  ])("is judged by what it breaks the protocol with: %s", async (_what, step) => {
    const played = await playSteps("long", [
      { kind: "log", stream: "stdout", text: "" },
      step,
      { kind: "exit", code: 0 }
    ])
    expect(endOf(played).reason).toBe("harness_protocol_violation")
    expect(problemsOf(played)).toEqual([])
  })

  it("has its workers seen while it waits, and may end before anybody sees them", async () => {
    const seen = await playSteps("seen", [{ kind: "spawn_worker" }, { kind: "delay", milliseconds: 2_000 }])
    expect(problemsOf(seen)).toEqual([])
    expect(seen.workersSeen).toBeGreaterThanOrEqual(1)
    const unseen = await playSteps("unseen", [{ kind: "spawn_worker" }, { kind: "exit", code: 3 }])
    expect(problemsOf(unseen)).toEqual([])
  })
})

describe("npm run harness", { timeout: 120_000 }, () => {
  const main = (scriptsFolder: string) => {
    const program = path.join(import.meta.dirname, "main.ts")
    const { status, stderr, stdout } = childProcess.spawnSync(process.execPath, [program, "--scripts", scriptsFolder], {
      encoding: "utf8"
    })
    return { status, stderr, last: stdout.trim().split("\n").at(-1), stdout }
  }

  it("says in a row what is no script, and plays the others", () => {
    const given = path.join(folder, "given")
    fs.mkdirSync(given)
    fs.writeFileSync(path.join(given, "broken.json"), "{")
    fs.cpSync(path.join(scripts, "error.json"), path.join(given, "error.json"))
    const { last, status, stderr, stdout } = main(given)
    expect({ last, status, stderr }).toEqual({
      last: '{"ok":false,"figures":{"scripts":2,"passed":1,"survivors":0}}',
      status: 1,
      stderr: ""
    })
    expect(stdout).toMatch(/^broken .* FAILED\n  broken\.json: /m)
    expect(stdout).toMatch(/^error .* passed$/m)
  })
})

describe("a local runner that is killed", { timeout: 120_000 }, () => {
  it.each(usable)("leaves no harness and no worker behind under %s", async (backend) => {
    const options = {
      runId: "run_1",
      normalizedSessionId: "session_1",
      runnerInstanceId: "runner_1",
      file: path.join(scripts, "linger.json"),
      ledgerFolder: folder,
      readyMs: 30_000,
      backend
    }
    const runner = childProcess.spawn(
      process.execPath,
      [path.join(import.meta.dirname, "program.ts"), JSON.stringify(options)],
      { stdio: ["pipe", "pipe", "ignore"], env: { PATH: process.env["PATH"], HOME: folder } }
    )
    let said = ""
    runner.stdout.on("data", (piece) => (said += piece))
    const lines = ["run.prepare", "session.open", "turn.start"] as const
    lines.forEach((type, index) => runner.stdin.write(`${commandLine(index + 1, type)}\n`))
    expect(await waitUntil(() => said.includes("item_wait"), 60_000)).toBe(true)
    const own = lookAround().filter(
      ({ command }) => command.includes("harness/program.ts") && command.includes("linger")
    )
    const workers = workersBelow(own.map(({ pid }) => pid))
    expect(workers.length).toBeGreaterThanOrEqual(2)
    runner.kill("SIGKILL")
    const started = [...own, ...workers]
    const left = () =>
      lookAround().filter(({ command, pid }) => started.some((one) => one.pid === pid && one.command === command))
    expect(await waitUntil(() => left().length === 0, 30_000), JSON.stringify(left())).toBe(true)
  })
})

const workersBelow = (ancestors: ReadonlyArray<number>) => {
  const all = lookAround()
  const parents = new Map(all.map(({ parent, pid }) => [pid, parent]))
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (ancestors.includes(pid) || isBelow(parents.get(pid)))
  return all.filter(({ command, pid }) => command.endsWith("sleep 60") && isBelow(pid))
}
