import { describe, expect, it } from "vitest"
import { codex } from "../../../src/layers/providers/codex/index.ts"
import { gateVerdict } from "../../../src/services/gate.ts"

describe("Codex, which runs what it takes for a reading command without asking", () => {
  it("cannot be promised to run nothing", () => {
    expect(gateVerdict("deny-all", codex.traits)).toEqual({ _tag: "NotEnforceable", effects: ["execute"] })
  })

  it("opens under ask and says what is not verified", () => {
    expect(gateVerdict("ask", codex.traits)).toEqual({ _tag: "OpenUnverified", effects: ["execute"] })
  })
})
