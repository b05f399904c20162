import { expect, it } from "@effect/vitest"
import type { ExecFileOptions } from "node:child_process"
import * as Effect from "effect/Effect"
import { describe, vi } from "vitest"
import { psTable } from "../../../src/layers/process/psTable.ts"
import { limits } from "../../../src/schema/limits.ts"

type Told = (error: Error | null, stdout: string) => void

/** How long the name of the machine is: the one output that comes through as it is. */
const printed = vi.hoisted(() => ({ machineBytes: 0 }))

/** In place of the tools of macOS a process of our own prints, read with the options of the caller. */
vi.mock("node:child_process", async (original) => {
  const real = await original<typeof import("node:child_process")>()
  const print = (text: string) => `process.stdout.write(${text})`
  const scriptOf = (file: string, args: ReadonlyArray<string>) => {
    if (file === "ps") return print(`"${args[1]} S Mon Nov  3 09:15:02 2025 node"`)
    return print(args.includes("kern.uuid") ? `"x".repeat(${printed.machineBytes})` : '"boot"')
  }
  return {
    ...real,
    execFile: (file: string, args: ReadonlyArray<string>, options: ExecFileOptions, told: Told) =>
      real.execFile(process.execPath, ["-e", scriptOf(file, args)], { ...options, encoding: "utf8" }, told)
  }
})

const readOf = (bytes: number) =>
  Effect.suspend(() => {
    printed.machineBytes = bytes
    return Effect.map(psTable, ({ machine }) => machine?.length)
  })

describe("the output of ps", () => {
  it.live("is read up to a bound", () =>
    Effect.gen(function* () {
      expect(yield* readOf(limits.psOutputBytesMax)).toBe(limits.psOutputBytesMax)
      expect(yield* readOf(limits.psOutputBytesMax + 1)).toBe(limits.psOutputBytesMax)
    })
  )
})
