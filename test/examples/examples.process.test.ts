/** The examples, run as a reader runs them. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"

const home = mkdtempSync(join(tmpdir(), "greenroom-examples-"))

const run = (example: string) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "../../examples", example)], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home },
    timeout: 60_000
  })

describe("the examples", () => {
  afterAll(() => {
    rmSync(home, { recursive: true, force: true })
  })

  it("embed.ts ends its turn, and leaves no process", { timeout: 60_000 }, () => {
    const { status, stderr, stdout } = run("embed.ts")
    expect(stdout, stderr).toMatch(/Completed, 0 processes left\n$/)
    expect(status).toBe(0)
  })

  it("simulate.ts finds the seat that is sold twice, and none where an actor sells", () => {
    const { status, stderr, stdout } = run("simulate.ts")
    const lines = stdout.trim().split("\n")
    expect(lines[0], stderr).toBe("plain: 1000 schedules, a seat sold twice")
    expect(lines).toContain("  Grace finds a seat")
    expect(lines.at(-1)).toBe("actor: 1000 schedules, no violation")
    expect(status).toBe(0)
  })
})
