/**
 * `npm run fuzz -- [--runs N] [--seed S]`: mutated frames through everything that reads frames from outside. A mutant that
 * throws, is refused without a typed error, is too slow or takes too much memory is saved under `fixtures/prp/fuzz`. Talks on
 * stderr; the last line of stdout is `{"ok": ..., "figures": {...}}`, and the exit code agrees.
 * Wrong usage: 2.
 */
import { commandLine, misused } from "../commandLine.ts"
import { type Broken, judged, measured, runCampaign } from "./campaign.ts"
import { memoryRatio } from "./memory.ts"
import { savedFrames, saveFrame } from "./saved.ts"

const values = commandLine("fuzz", {
  runs: { type: "string", default: "1000000" },
  seed: { type: "string", default: "1" }
})
const runs = Number(values.runs)
const seed = Number(values.seed)
if (!Number.isSafeInteger(runs) || runs < 1 || !Number.isSafeInteger(seed)) {
  misused("fuzz", "--runs and --seed are whole numbers")
}

const found = { throws: 0, untyped: 0, drifted: 0, slow: 0, memory: 0 }
const savedMax = 20
const total = () => Object.values(found).reduce((sum, count) => sum + count, 0)

const onBroken = (broken: Broken): void => {
  found[broken.what] += 1
  if (total() > savedMax) return
  console.error(`fuzz: ${broken.what} (${broken.frame.target}): ${broken.why}; saved as ${saveFrame(broken.frame)}`)
}

let spoken = performance.now()
const onRun = (run: number): void => {
  if (performance.now() - spoken < 5000) return
  spoken = performance.now()
  console.error(`fuzz: ${run + 1} of ${runs} runs, ${total()} broken`)
}

for (const [name, frame] of savedFrames()) {
  const { broken } = judged(frame)
  if (broken !== undefined) onBroken(broken)
  console.error(`fuzz: ${name} again: ${measured(frame, memoryRatio, onBroken).toFixed(2)} times its memory`)
}
const figures = runCampaign({ runs, seed, largeEvery: 2500, memoryRatio, onBroken, onRun })
const ok = total() === 0
console.log(JSON.stringify({ ok, figures: { ...figures, ...found } }))
process.exitCode = ok ? 0 : 1
