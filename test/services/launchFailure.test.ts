import { describe, expect, it } from "vitest"
import { launchFailure } from "../../src/services/launchFailure.ts"

const launch = { command: "agent" }

describe("an agent that ended before its first frame", () => {
  it.each([126, 127])("was never started if its status is %i", (code) => {
    expect(launchFailure(launch, { _tag: "Code", code }, 0, ["env: node: not found"])).toMatchObject({
      code: "launch_failed",
      command: "agent",
      exit: { _tag: "Code", code },
      stderrTail: ["env: node: not found"]
    })
  })

  it("was started if it said anything or ended otherwise", () => {
    expect(launchFailure(launch, { _tag: "Code", code: 127 }, 1, [])).toBeUndefined()
    expect(launchFailure(launch, { _tag: "Code", code: 1 }, 0, [])).toBeUndefined()
    expect(launchFailure(launch, { _tag: "Signal", signal: "SIGKILL", inferred: true }, 0, [])).toBeUndefined()
  })
})
