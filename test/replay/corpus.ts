/** Replays a whole corpus. */
import { type Checked, check } from "./check.ts"
import { planOf } from "./plan.ts"
import { replay, type Replayed } from "./replay.ts"
import { readTranscripts, type Transcript } from "./transcript.ts"
import { disagreements, readVerdicts, type Verdict, verdictOf } from "./verdicts.ts"

export interface Row {
  readonly transcript: Transcript
  readonly replayed: Replayed
  readonly checked: Checked
  readonly verdict: Verdict
  /** `undefined`: there is no verdict to compare with. */
  readonly disagreements: ReadonlyArray<string> | undefined
}

export const replayTranscript = (transcript: Transcript, expected: Verdict | undefined, seed = 0): Row => {
  const replayed = replay(planOf(transcript), seed)
  const checked = check(replayed)
  const verdict = verdictOf(replayed, checked)
  return {
    transcript,
    replayed,
    checked,
    verdict,
    disagreements: expected === undefined ? undefined : disagreements(expected, verdict)
  }
}

export const replayCorpus = (root: string): ReadonlyArray<Row> => {
  const verdicts = readVerdicts(root)
  return readTranscripts(root).map((transcript) => replayTranscript(transcript, verdicts[transcript.name]))
}
