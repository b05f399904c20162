/** Records one scenario of one real agent, through our own host. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Runner } from "../../src/actors/Runner.ts"
import * as Greenroom from "../../src/layers/Greenroom.ts"
import { cacheFolder } from "../../src/layers/folders.ts"
import * as recordedLinks from "../../src/layers/recordedLinks.ts"
import { AgentLinks, type AgentLink } from "../../src/services/AgentLink.ts"
import { Os, type ProcessExit } from "../../src/services/Os.ts"
import type { ModelServer, Provider } from "../../src/services/Provider.ts"
import { type Place, withPlaceholders } from "./placeholders.ts"
import type { Scenario } from "./scenarios.ts"
import { exitNote, inputEnded } from "./transcript.ts"

/** The lines of the recording, without anything of this machine. */
export const recordScenario = async (
  provider: Provider,
  scenario: Scenario,
  modelServer: ModelServer | undefined
): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "greenroom-record-"))
  const workspace = join(folder, "workspace")
  const privateHome = join(folder, "home")
  for (const path of [workspace, privateHome]) mkdirSync(path, { mode: 0o700 })
  const lines: Array<string> = []
  const write = (text: string) => Effect.sync(() => void lines.push(text))
  const program = Effect.gen(function* () {
    const os = yield* Os
    const session = yield* (yield* Runner).open({
      provider,
      cwd: workspace,
      home: "private",
      privateHome,
      hostEnv: process.env,
      policy: "ask",
      canAsk: true,
      // Its exit is told by the kernel, not by a shell.
      backend: "marked",
      ...(modelServer === undefined ? {} : { modelServer })
    })
    const { identity } = session.link
    const kill = identity === undefined ? Effect.void : Effect.asVoid(os.signal(identity, "SIGKILL"))
    yield* scenario({ session, workspace, kill })
    yield* session.close
  })
  try {
    await Effect.runPromise(Effect.provide(Effect.scoped(program), recorder(write, join(folder, "hosts"))))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return withPlaceholders(lines.join(""), places(workspace, privateHome))
}

const recorder = (write: (text: string) => Effect.Effect<void>, ledgerFolder: string) => {
  const processes = Greenroom.processLinks({ ledgerFolder })
  const links = marked(write).pipe(Layer.provide(recordedLinks.layer(write)), Layer.provideMerge(processes))
  return Layer.merge(Layer.provide(Greenroom.overLinks, links), processes)
}

/** Adds what is not on the wire: the end of the input, and the exit behind everything that was said. */
const marked = (write: (text: string) => Effect.Effect<void>): Layer.Layer<AgentLinks, never, AgentLinks> =>
  Layer.effect(
    AgentLinks,
    Effect.map(AgentLinks, (links) =>
      AgentLinks.of({ open: (launch) => Effect.flatMap(links.open(launch), (link) => markedLink(link, write)) })
    )
  )

const markedLink = Effect.fnUntraced(function* (
  link: AgentLink,
  write: (text: string) => Effect.Effect<void>
): Effect.fn.Return<AgentLink, never, Scope.Scope> {
  const startMs = yield* Clock.currentTimeMillis
  let ended: { readonly exit: ProcessExit; readonly t: number } | undefined
  let isMarked = false

  const now = Effect.map(Clock.currentTimeMillis, (time) => time - startMs)
  const mark = (note: string, t: number) => write(`${JSON.stringify({ dir: "mark", t, note })}\n`)
  const exited = Effect.gen(function* () {
    const exit = yield* link.exit
    ended ??= { exit, t: yield* now }
  })

  const close = Effect.gen(function* () {
    if (isMarked) return yield* link.close
    isMarked = true
    if (ended === undefined) yield* mark(inputEnded, yield* now)
    const report = yield* link.close
    yield* mark(exitNote(ended?.exit ?? report.exit), ended?.t ?? (yield* now))
    return report
  })
  yield* Effect.forkScoped(exited)
  yield* Effect.addFinalizer(() => close)
  return { ...link, close }
})

const places = (workspace: string, home: string): ReadonlyArray<Place> => [
  { path: workspace, placeholder: "/workspace" },
  { path: home, placeholder: "/home/agent" },
  { path: cacheFolder(process.env), placeholder: "/cache" },
  { path: resolve(import.meta.dirname, "../.."), placeholder: "/greenroom" },
  { path: process.execPath, placeholder: "/usr/bin/node" },
  { path: homedir(), placeholder: "/home/agent" }
]
