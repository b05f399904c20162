import { describe, expect, it } from "vitest"
import { judged, runCampaign } from "./campaign.ts"
import { soundFrames } from "./frames.ts"
import { savedFrames } from "./saved.ts"

describe("whatever reads frames from outside", () => {
  it("reads sound ones", () => {
    expect(soundFrames().flatMap((frame) => judged(frame).broken ?? [])).toEqual([])
  })

  it("neither throws at a mutant nor refuses it without a typed error", () => {
    const broken: Array<unknown> = []
    runCampaign({ runs: 5000, seed: 5, largeEvery: 5000, onBroken: (found) => broken.push([found.what, found.why]) })
    expect(broken.filter((found) => !String(found).startsWith("slow"))).toEqual([])
  }, 60_000)

  it("has nothing left of what once broke it", () => {
    for (const [name, frame] of savedFrames()) expect([name, judged(frame).broken?.what]).toEqual([name, undefined])
  })
})
