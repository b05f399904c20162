import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { afterEach, expect, it, vi } from "vitest"
import { linuxTable } from "../../../src/layers/process/linuxTable.ts"
import type * as Procfs from "../../../src/layers/process/procfs.ts"

/** What the environment of the one process that is looked at holds, read after read. */
const reads = vi.hoisted((): Array<"yes" | "no" | "empty"> => [])

vi.mock("../../../src/layers/process/procfs.ts", async (original) => ({
  ...(await original<typeof Procfs>()),
  processNumbers: () => [process.pid],
  environmentHolds: () => reads.shift() ?? "no"
}))

afterEach(() => {
  reads.length = 0
})

const census = () =>
  Effect.runSync(
    Result.getOrThrow(linuxTable()).census({ marker: "m", pidNamespace: undefined, isHelper: () => false })
  ).map(({ pid }) => pid)

it.runIf(process.platform === "linux")(
  "a census does not name who took the number of a process while it looked",
  () => {
    reads.push("yes", "yes")
    expect(census()).toEqual([process.pid])
    reads.push("yes", "no")
    expect(census()).toEqual([])
  }
)
