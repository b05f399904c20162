/** What docs/runnerd.md says is so. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { commandTable } from "../../src/actors/commandTable.ts"
import { ControlPlaneRefused, type PrpRejected } from "../../src/schema/errors.ts"
import { decodePrp } from "../../src/schema/prp/contract/decode.ts"
import type { ControlFrame, RunnerFrame } from "../../src/schema/prp/transportFrame.ts"
import { readControlFrame, readRunnerFrame } from "../../src/schema/prp/transportText.ts"

const page = readFileSync(join(import.meta.dirname, "../../docs/runnerd.md"), "utf8")
const lines = page.split("\n").filter((line) => /^[<>] \{/.test(line))
const frames: ReadonlyArray<Result.Result<ControlFrame | RunnerFrame, PrpRejected>> = lines.map((line) =>
  line.startsWith(">") ? readControlFrame(line.slice(2)) : readRunnerFrame(line.slice(2))
)
const valid = frames.flatMap((frame) => (Result.isSuccess(frame) ? [frame.success] : []))

describe("the page for control planes", () => {
  it("has a transcript of valid frames of every kind", () => {
    expect(frames.filter(Result.isFailure)).toEqual([])
    const kinds = valid.map(({ kind }) => kind)
    expect([...new Set(kinds)].sort()).toEqual(
      [
        "ack",
        "auth_hello",
        "command",
        "command_result",
        "command_result_ack",
        "error",
        "event",
        "ping",
        "pong",
        "welcome"
      ].sort()
    )
  })

  it("has events of the contract in it, without a gap, up to the terminal", () => {
    const events = valid.flatMap((frame) => (frame.kind === "event" ? [frame.payload] : []))
    expect(events.length).toBeGreaterThan(20)
    events.forEach(({ event, previousSourceSeq }, n) => {
      expect(decodePrp("event", event)).toMatchObject({ _tag: "Success" })
      expect([event["sourceSeq"], previousSourceSeq]).toEqual([n + 1, n])
    })
    expect(events.at(-1)?.event["eventType"]).toBe("run.terminal")
  })

  it("names every command, and every code of an error", () => {
    const missing = [...Object.keys(commandTable), ...ControlPlaneRefused.fields.code.literals].filter(
      (name) => !page.includes(`\`${name}\``)
    )
    expect(missing).toEqual([])
  })
})
