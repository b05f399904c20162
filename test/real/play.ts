/** Plays one scene with one agent and judges it. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Greenroom, providerById, Runner } from "../../src/index.ts"
import { startDemoModel } from "../../src/programs/demoModel.ts"
import type { Event } from "../../src/schema/prp/event.ts"
import { isTurnTerminal } from "../../src/schema/prp/terminals.ts"
import type { Backend } from "../../src/services/Os.ts"
import { sendKill } from "../process/processes.ts"
import { type EnsuredAgent, ensureAgent } from "./agents.ts"
import type { CaseName } from "./cases.ts"
import { carrying, ledgersIn, valueOf } from "./look.ts"
import type { Scene } from "./scenes.ts"
import { collect, type Finding, makeStage, type StageOptions } from "./stage.ts"
import type { Subject } from "./subjects.ts"

export interface Result {
  readonly agent: string
  readonly backend: Backend | undefined
  readonly scene: string
  readonly name: CaseName
  readonly verdict: "passed" | "agent cannot" | "failed" | "skipped"
  /** Why, unless it passed. */
  readonly detail: string
}

export interface Played {
  readonly results: ReadonlyArray<Result>
  /** Processes that were found after the end of everything. They were ended then. */
  readonly survivors: number
}

export const playScene = async (subject: Subject, backend: Backend | undefined, scene: Scene): Promise<Played> => {
  const names: ReadonlyArray<CaseName> = [...scene.cases, "ends every turn once", "leaves nothing behind"]
  const about = { agent: subject.id, backend, scene: scene.name }
  const allAre = (verdict: Result["verdict"], detail: string): Played => ({
    results: names.map((name) => ({ ...about, name, verdict, detail })),
    survivors: 0
  })
  let agent: EnsuredAgent
  try {
    agent = await ensureAgent(subject.id)
  } catch (error) {
    return allAre("failed", String(error))
  }
  if (agent.skipped === true) return allAre("skipped", agent.reason)
  const { found, survivors, trouble } = await Effect.runPromise(
    perform({ subject, backend, scene, command: agent.path })
  )
  const results = names.map((name): Result => ({
    ...about,
    name,
    ...judge(found.get(name), subject.cannot[name], trouble)
  }))
  return { results, survivors }
}

const judge = (
  finding: Finding | undefined,
  cannot: string | undefined,
  trouble: string
): Pick<Result, "verdict" | "detail"> => {
  if (finding === undefined) return { verdict: "failed", detail: `not seen: ${trouble}` }
  if (cannot === undefined)
    return finding.holds ? { verdict: "passed", detail: "" } : { verdict: "failed", detail: finding.seen }
  return finding.holds
    ? { verdict: "failed", detail: `it can, although it is listed as unable: ${cannot}` }
    : { verdict: "agent cannot", detail: cannot }
}

interface Performance {
  readonly subject: Subject
  readonly backend: Backend | undefined
  readonly scene: Scene
  readonly command: string
}

const perform = Effect.fnUntraced(function* (performance: Performance) {
  const folder = yield* temporaryFolder
  const [cwd, ledgerFolder] = [path.join(folder, "workspace"), path.join(folder, "ledgers")]
  for (const made of [cwd, ledgerFolder]) fs.mkdirSync(made)
  const model = yield* demoModel
  const found = new Map<CaseName, Finding>()
  const leftovers: Array<string> = []
  const markers = new Set<string>()
  const watches = yield* makeWatches(found)
  const kit = { ...performance, model, cwd, ledgerFolder, found, leftovers, markers, never: watches.never }
  const exit = yield* Effect.exit(
    Effect.scoped(inSession(kit)).pipe(
      Effect.provide(Greenroom.layer({ ledgerFolder })),
      Effect.timeoutOrElse({ duration: sceneMs, orElse: () => Effect.die(new Error(`not over within ${sceneMs} ms`)) })
    )
  )
  const survivors = [...markers].flatMap(carrying)
  for (const { command } of survivors) leftovers.push(`after all, a process: ${command}`)
  for (const name of fs.readdirSync(ledgerFolder)) leftovers.push(`after all, a ledger: ${name}`)
  yield* watches.end
  for (const { pid } of survivors) sendKill(pid)
  found.set("leaves nothing behind", { holds: leftovers.length === 0, seen: leftovers.join("; ") })
  return { found, survivors: survivors.length, trouble: Exit.isSuccess(exit) ? "" : Cause.pretty(exit.cause) }
}, Effect.scoped)

/** Only a guard against a hang. */
const sceneMs = 400_000

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "greenroom-real-")))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const demoModel = Effect.acquireRelease(
  Effect.promise(() => startDemoModel()),
  (model) => Effect.promise(model.close)
)

interface Kit extends Performance, Pick<StageOptions, "model" | "cwd" | "ledgerFolder" | "never"> {
  readonly found: Map<CaseName, Finding>
  /** What should have been gone when it was looked for. */
  readonly leftovers: Array<string>
  /** Of the launches: the ledger that has them goes with its host. */
  readonly markers: Set<string>
}

const inSession = Effect.fnUntraced(function* (kit: Kit) {
  const { leftovers, scene } = kit
  const events: Array<Event> = []
  const runner = yield* Runner
  const subscription = yield* runner.events()
  yield* Effect.forkScoped(collect(subscription.events, events))
  const provider = yield* providerById(kit.subject.id)
  if (provider === undefined) return yield* Effect.die(new Error(`no agent ${kit.subject.id}`))
  // Deleted with the scope of the session, so it is looked for behind that.
  let home: string | undefined
  yield* Effect.scoped(
    Effect.gen(function* () {
      const session = yield* runner.open({ provider, ...openOptions(kit) })
      for (const marker of ledgersIn(kit.ledgerFolder).begun) kit.markers.add(marker)
      const stage = makeStage({ ...kit, provider, session, events, found: tellIn(kit) })
      home = valueOf(stage.agentPid() ?? 0, "HOME")
      const played = yield* Effect.exit(Effect.scoped(scene.play(stage)))
      const report = yield* session.close
      // The report is proof, so nothing is waited for.
      for (const { pid } of report.survivors) leftovers.push(`reported: ${pid}`)
      for (const { command } of stage.processes()) leftovers.push(`after the close, a process: ${command}`)
      for (const marker of ledgersIn(kit.ledgerFolder).open) leftovers.push(`after the close, in the ledger: ${marker}`)
      yield* stage.until("the last event", () => events.at(-1)?.eventType === "session.closed")
      kit.found.set("ends every turn once", onceEach(events))
      yield* played
    })
  )
  if (home !== undefined && fs.existsSync(home)) leftovers.push(`its home: ${home}`)
})

const openOptions = ({ backend, cwd, model, scene, subject }: Kit) => ({
  cwd,
  home: "private" as const,
  hostEnv: process.env,
  ...(scene.policy === "deny-all" && subject.denyAllRefused !== undefined
    ? { policy: "ask" as const, canAsk: false }
    : { policy: scene.policy, canAsk: true }),
  ...(subject.tools === undefined ? {} : { modelServer: { origin: model.origin } }),
  ...(scene.otherModel === true ? { model: subject.model } : {}),
  ...(backend === undefined ? {} : { backend })
})

/** What has failed once stays failed. */
const tellIn =
  ({ found, scene }: Kit) =>
  (name: CaseName, finding: Finding) => {
    if (!scene.cases.includes(name)) throw new Error(`the scene does not list: ${name}`)
    if (found.get(name)?.holds !== false) found.set(name, finding)
  }

/** Every turn has one terminal, which is its last event, and no number is missing. */
const onceEach = (events: ReadonlyArray<Event>): Finding => {
  const turns = new Set(events.flatMap((event) => event.turnId ?? []))
  const isOnce = [...turns].every((turnId) => {
    const own = events.filter((event) => event.turnId === turnId)
    return own.filter(isTurnTerminal).length === 1 && own.slice(-1).every(isTurnTerminal)
  })
  const isGapless = events.every((event, index) => event.sourceSeq === index + 1)
  return { holds: turns.size > 0 && isOnce && isGapless, seen: events.map((event) => event.eventType).join(" ") }
}

/** Looks that go on beside everything, and a few more when all is over. */
const makeWatches = Effect.fnUntraced(function* (found: Map<CaseName, Finding>) {
  const scope = yield* Effect.scope
  const watched: Array<{ readonly name: CaseName; readonly look: () => boolean; looks: number; hit: boolean }> = []
  const lookAtAll = Effect.sync(() => {
    for (const one of watched) {
      one.looks++
      one.hit ||= one.look()
    }
  })
  const goOn = (times: number) => Effect.repeat(Effect.delay(lookAtAll, lookMs), { times })
  yield* Effect.forkIn(goOn(Number.POSITIVE_INFINITY), scope)
  return {
    never: (name: CaseName, happened: () => boolean) =>
      Effect.sync(() => void watched.push({ name, look: happened, looks: 0, hit: false })),
    end: Effect.andThen(
      Effect.suspend(() => (watched.length === 0 ? Effect.void : goOn(looksAfter))),
      Effect.sync(() => {
        for (const { hit, looks, name } of watched)
          found.set(name, { holds: !hit, seen: `it happened (${looks} looks)` })
      })
    )
  }
})

const lookMs = 20
const looksAfter = 25
