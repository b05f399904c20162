/**
 * The files of a corpus, and every value in them that names its schema, judged by the reference and by us; replayed runs reduced
 * and compared with their golden files, byte by byte.
 *
 * What a file is to be is said by where it is: with golden files beside it, or under `accepted`, it is accepted; under `rejected`,
 * or named after an unsupported version, it is refused; among runs that have golden files it may be refused for its rules.
 * Any other file that the reference accepts is accepted. `valid` and `invalid` say what `accepted` and `rejected` do. A script
 * of a fake harness must be one that ours plays.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { basename, dirname, join, relative, sep } from "node:path"
import * as Result from "effect/Result"
import { readHarnessScript } from "../../fixtures/agents/harness/script.ts"
import { parsePrpText } from "../../src/schema/prp/contract/decode.ts"
import { nativeAt } from "../../src/schema/prp/native.ts"
import { judgeValue, kindOfValue, type Refused, schemaIdOf } from "../../src/schema/prp/rules/judgeValue.ts"
import { judgeCases } from "./cases.ts"
import type { Disagreement } from "./compare.ts"
import { goldenFolder, type GoldenVerdict, isGoldenOfOne, judgeGoldens } from "./goldens.ts"
import { type Judges, judgesOf } from "./judges.ts"
import { problemOf } from "./schemaSet.ts"
import type { Reference } from "./reference.ts"

export interface FixtureRow {
  readonly file: string
  /** `accepted`, the code that it is refused with, or that it is no value of the contract itself. */
  readonly verdict: string
  /** Values in it that both judged. */
  readonly values: number
  readonly disagreements: ReadonlyArray<Disagreement>
  /** Golden files that are as they must be. */
  readonly goldens: number
  readonly problems: ReadonlyArray<string>
}

/** One for each JSON file of the folder and those in it. */
export function* judgeFixtures(reference: Reference, directory: string): Generator<FixtureRow> {
  const judges = judgesOf(reference)
  for (const path of jsonFiles(directory)) {
    const file = relative(directory, path).split(sep).join("/")
    try {
      yield judgeFile(judges, file, path)
    } catch (cause) {
      yield { file, verdict: "unreadable", values: 0, disagreements: [], goldens: 0, problems: [problemOf(cause)] }
    }
  }
}

/** The folder that has the fixtures: `fixtures`, or the folder itself. */
export const fixtureFolder = (directory: string): string => {
  const inner = join(directory, "fixtures")
  return statSync(inner, { throwIfNoEntry: false })?.isDirectory() === true ? inner : directory
}

/** A link that leads nowhere is one, so that it is told. */
const jsonFiles = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json") && !name.endsWith(".schema.json"))
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    .sort()

const textOf = (path: string): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path))

const judgeFile = (judges: Judges, file: string, path: string): FixtureRow => {
  const text = textOf(path)
  const parsed = parsePrpText("file", text)
  const value = Result.getOrUndefined(parsed)
  if (nativeAt(value, "schema") === "greenroom.prp.cases.v1") {
    return { file, verdict: "cases", goldens: 0, ...judgeCases(judges, text) }
  }
  const inside = judges.judgeInside(value)
  const row = { file, values: inside.length, disagreements: inside.flatMap(({ disagreement }) => disagreement ?? []) }
  if (basename(dirname(path)) === goldenFolder) {
    return {
      ...row,
      verdict: "golden",
      goldens: 0,
      problems: isGoldenOfOne(path) ? [] : ["of no run beside its folder"]
    }
  }
  if (nativeAt(value, "schema") === "paperclip.fake_harness.script.v1") {
    return { ...row, verdict: "a script", goldens: 0, problems: scriptProblems(file, text) }
  }
  const judged: Result.Result<unknown, Refused> = Result.flatMap(parsed, judgeValue)
  const namesKind = Result.isFailure(parsed) || schemaIdOf(value) !== undefined
  const isOurs = Result.isFailure(parsed) || kindOfValue(value) !== undefined
  const goldens = judgeGoldens(path, Result.getOrUndefined(judged))
  return {
    ...row,
    verdict: isOurs ? verdictOf(judged) : "of no kind itself",
    goldens: goldens.equal,
    problems: [...goldens.problems, ...(namesKind ? expectationProblems(file, path, judged, goldens) : [])]
  }
}

const scriptProblems = (file: string, text: string): ReadonlyArray<string> => {
  const script = readHarnessScript(text)
  if (isIn(file, refusedFolders)) return Result.isFailure(script) ? [] : ["a script, and must be none"]
  return Result.isFailure(script) ? [`no script: ${problemOf(script.failure)}`] : []
}

const acceptedFolders = ["accepted", "valid"]
const refusedFolders = ["rejected", "invalid"]

const isIn = (file: string, names: ReadonlyArray<string>): boolean =>
  file
    .split("/")
    .slice(0, -1)
    .some((folder) => names.includes(folder))

const verdictOf = (judged: Result.Result<unknown, Refused>): string =>
  Result.isSuccess(judged) ? "accepted" : judged.failure.code

const expectationProblems = (
  file: string,
  path: string,
  judged: Result.Result<unknown, Refused>,
  goldens: GoldenVerdict
): ReadonlyArray<string> => {
  if (basename(file).includes("unsupported-required-version")) {
    const isRefused = Result.isFailure(judged) && judged.failure.code === "unsupported_required_version"
    return isRefused ? [] : ["not refused as its name says: unsupported_required_version"]
  }
  if (isIn(file, refusedFolders)) return Result.isFailure(judged) ? [] : ["accepted, and must be refused"]
  if (Result.isSuccess(judged)) return []
  if (goldens.expected > 0 || isIn(file, acceptedFolders)) return [`must be accepted: ${refusalText(judged.failure)}`]
  if (!rulesOf(judged.failure)) return judged.failure.code === "invalid_json" ? ["no JSON"] : []
  return existsSync(join(dirname(path), goldenFolder)) ? [] : [`valid by its schema: ${refusalText(judged.failure)}`]
}

/** Refused for what no schema says. */
const rulesOf = (refused: Refused): boolean => refused._tag !== "PrpRejected" || refused.code === "binding_mismatch"

const refusalText = ({ code, issues }: Refused): string =>
  [code, ...issues.slice(0, 1).map(({ path, expectation }) => `${path}: ${expectation}`)].join(" ")
