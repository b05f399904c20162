import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import { exitToldByShell } from "../../../src/layers/process/namespace.ts"
import { isNodeSupported } from "../../../src/layers/process/NodeOs.ts"
import { isDead, parseStat, readStat } from "../../../src/layers/process/procfs.ts"
import { parseListing } from "../../../src/layers/process/psTable.ts"

const stat = (name: string, state: string, threads: number) =>
  `42 (${name}) ${state} 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 ${threads} 0 123456 1000 10 18446744073709551615`

describe("a line of /proc/<pid>/stat", () => {
  it.each(["cat", "a b", "x) S 1 (y", "((("])("is read whatever the process is called: %s", (name) => {
    expect(parseStat(stat(name, "S", 3))).toEqual({
      state: "S",
      parent: 7,
      flags: 4194560,
      threads: 3,
      startTime: "123456"
    })
  })

  it("is not read from half a line", () => {
    expect(parseStat("42 (cat) S 7")).toBeUndefined()
    expect(parseStat("")).toBeUndefined()
  })

  it("takes a zombie for dead, but not a process whose first thread has ended", () => {
    const dead = (state: string, threads: number) => isDead(parseStat(stat("x", state, threads)) ?? never())
    expect(dead("Z", 1)).toBe(true)
    expect(dead("X", 1)).toBe(true)
    expect(dead("Z", 2)).toBe(false)
    expect(dead("S", 1)).toBe(false)
  })

  it.runIf(fs.existsSync("/proc/self/stat"))("is that of this process", () => {
    expect(readStat(process.pid)?.parent).toBe(process.ppid)
  })
})

describe("a listing of ps", () => {
  it("is read line by line, and what is no line of it is passed over", () => {
    const listing = [
      "    1 Ss   Mon Nov  3 09:15:02 2025 /sbin/launchd",
      "  812 S+   Tue Nov  4 10:00:00 2025 node agent.js A=1 GREENROOM_LAUNCH=launch_x PATH=/bin",
      "  900 Z    Tue Nov  4 10:00:01 2025",
      "error: something else",
      ""
    ]
    expect(parseListing(listing.join("\n"))).toEqual([
      { pid: 1, state: "Ss", startTime: "Mon Nov  3 09:15:02 2025", command: "/sbin/launchd" },
      {
        pid: 812,
        state: "S+",
        startTime: "Tue Nov  4 10:00:00 2025",
        command: "node agent.js A=1 GREENROOM_LAUNCH=launch_x PATH=/bin"
      },
      { pid: 900, state: "Z", startTime: "Tue Nov  4 10:00:01 2025", command: "" }
    ])
  })
})

describe("an exit told by a shell", () => {
  it("is a code up to 128 and an inferred signal above", () => {
    expect(exitToldByShell({ _tag: "Code", code: 128 })).toEqual({ _tag: "Code", code: 128 })
    expect(exitToldByShell({ _tag: "Code", code: 129 })).toEqual({ _tag: "Signal", signal: "SIGHUP", inferred: true })
    expect(exitToldByShell({ _tag: "Code", code: 137 })).toEqual({ _tag: "Signal", signal: "SIGKILL", inferred: true })
    expect(exitToldByShell({ _tag: "Code", code: 255 })).toEqual({ _tag: "Code", code: 255 })
  })

  it("is unknown when the shell itself was killed", () => {
    expect(exitToldByShell({ _tag: "Signal", signal: "SIGKILL", inferred: false })._tag).toBe("Unknown")
  })
})

describe("the version of Node", () => {
  it("is enough from the bound on", () => {
    expect(["v22.19.0", "v22.20.1", "v24.0.0"].every(isNodeSupported)).toBe(true)
    expect(["v22.18.9", "v20.99.0", "v18.0.0"].some(isNodeSupported)).toBe(false)
  })
})

const never = (): never => {
  throw new Error("not a line")
}
