/** The same campaign in other processes: another number of threads, one processor, the oldest Node, another zone and language. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { oldNode } from "./oldNode.ts"

const main = join(import.meta.dirname, "main.ts")

const digestOf = (command: ReadonlyArray<string>, threads: number, env: Record<string, string> = {}): string => {
  const [file = process.execPath, ...args] = command
  const campaign = [main, "--runs", "800", "--seed", "11", "--program", "cancel", "--threads", String(threads)]
  const run = spawnSync(file, [...args, ...campaign], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", NODE_NO_WARNINGS: "1", ...env }
  })
  expect(run.stdout?.trim().split("\n").at(-1), run.stderr).toMatch(/^\{"ok":true,/)
  return /^digest ([0-9a-f]{64})$/m.exec(run.stderr)?.[1] ?? "none"
}

const hasTaskset = spawnSync("taskset", ["--version"]).status === 0

describe("a campaign does the same", { timeout: 300_000 }, () => {
  let here = ""
  beforeAll(() => {
    here = digestOf([process.execPath], 2)
  }, 120_000)

  it("in another process with one thread, in another zone and language", () => {
    expect(digestOf([process.execPath], 1, { TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8" })).toBe(here)
  })

  it.skipIf(!hasTaskset)("on one processor", () => {
    expect(digestOf(["taskset", "-c", "0", process.execPath], 2)).toBe(here)
  })

  const old = oldNode()
  it.skipIf("skipped" in old)(`on Node 22.19${"skipped" in old ? ` (${old.skipped})` : ""}`, () => {
    expect(digestOf(["path" in old ? old.path : ""], 2)).toBe(here)
  })
})
