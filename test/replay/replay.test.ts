/** The recorded traffic of real agents, replayed through the production connection and session. */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { replayTranscript } from "./corpus.ts"
import { cutAfter } from "./cut.ts"
import { filesOf, readManifest } from "./manifest.ts"
import { type Line, readTranscripts } from "./transcript.ts"
import { readVerdicts } from "./verdicts.ts"

const root = join(import.meta.dirname, "../../fixtures/wire")
const transcripts = readTranscripts(root)
const verdicts = readVerdicts(root)

describe("the corpus", () => {
  it("is what was recorded", () => {
    const manifest = readManifest(root)
    const folders = new Set(transcripts.map(({ name }) => name.split("/")[0] ?? ""))
    expect(Object.keys(manifest)).toEqual([...folders])
    for (const [folder, { agent, files, version }] of Object.entries(manifest)) {
      expect(folder).toBe(`${agent}-${version}`)
      expect(filesOf(join(root, folder))).toEqual(files)
    }
  })

  it("is small", () => {
    const sizes = Object.values(readManifest(root)).flatMap(({ files }) =>
      Object.values(files).map(({ bytes }) => bytes)
    )
    expect(Math.max(...sizes)).toBeLessThan(200_000)
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(2_000_000)
  })

  it("has a verdict for each transcript, and no other", () => {
    expect(Object.keys(verdicts).sort()).toEqual(transcripts.map(({ name }) => name))
  })
})

/** Seed 0 is the order of the recording; the others draw the order of the fibers, and where the output is cut. */
const seeds = [0, 1, 2]

describe("a replay ends as its verdict says, with nothing lost", () => {
  it.for(transcripts)("$name", (transcript) => {
    for (const seed of seeds) {
      const row = replayTranscript(transcript, verdicts[transcript.name], seed)
      expect({ seed, broken: row.checked.broken, disagreements: row.disagreements }).toEqual({
        seed,
        broken: [],
        disagreements: []
      })
    }
  })
})

describe("what is no frame", () => {
  const noise: Line = { _tag: "Raw", from: "agent", t: 0, text: "WARN a log line {with braces}" }
  const isRead = (line: Line) => line._tag === "Frame" && line.from === "agent"

  it.for(transcripts.filter(({ name }) => name.endsWith("/allow.jsonl")))(
    "is counted and changes nothing: $name",
    (of) => {
      const lines = of.lines.flatMap((line) => (isRead(line) ? [line, { ...noise, t: line.t }] : [line]))
      const expected = { ...verdicts[of.name]!, noise: of.lines.filter(isRead).length }
      const row = replayTranscript({ name: of.name, lines }, expected, 1)
      expect([...row.checked.broken, ...(row.disagreements ?? [])]).toEqual([])
    }
  )
})

/** Every so many lines, with another start for each transcript. */
const stride = 10

describe("nothing is lost of an agent that dies, or is left, in the middle of", () => {
  it.for(transcripts.map((transcript, index) => ({ name: transcript.name, transcript, start: 1 + (index % stride) })))(
    "$name",
    ({ transcript, start }) => {
      for (let count = start; count < transcript.lines.length; count += stride) {
        for (const ending of ["killed", "closed"] as const) {
          const cut = cutAfter(transcript, count, ending)
          expect({ name: cut.name, broken: replayTranscript(cut, undefined).checked.broken }).toEqual({
            name: cut.name,
            broken: []
          })
        }
      }
    }
  )
})
