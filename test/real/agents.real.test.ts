/** The quick ones of `npm run test:real`. An agent that cannot be had is skipped, and it says why. */
import { beforeAll, describe, expect, it } from "vitest"
import { limits } from "../../src/schema/limits.ts"
import { ensureAgent } from "./agents.ts"
import { playScene } from "./play.ts"
import { scenes } from "./scenes.ts"
import { subjects } from "./subjects.ts"

const hangGuardMs = 500_000

describe.each(subjects.filter(({ id }) => id === "bundled" || id === "codex"))("the agent $id", (subject) => {
  beforeAll(() => ensureAgent(subject.id), limits.installMs)

  for (const scene of scenes)
    it(`keeps what is said of it in ${scene.name}`, { timeout: hangGuardMs }, async (context) => {
      const { results, survivors } = await playScene(subject, undefined, scene)
      const skipped = results.find(({ verdict }) => verdict === "skipped")
      context.skip(skipped !== undefined, skipped?.detail)
      expect(results.filter(({ verdict }) => verdict === "failed")).toEqual([])
      expect(survivors).toBe(0)
    })
})
