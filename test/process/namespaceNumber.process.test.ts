/** Report: an agent got SIGKILL while another host ended one of its own. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { afterAll, expect, it } from "vitest"
import { Os } from "../../src/services/Os.ts"
import { runWithLinks } from "./links.ts"
import { probedBackends } from "./matrix.ts"
import { lookAround, waitUntil } from "./processes.ts"
import { makeFolder } from "./startHost.ts"

const folder = makeFolder()
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const namespaceOf = (pid: number): string => fs.readlinkSync(`/proc/${pid}/ns/pid`)

const newNamespace = [...(process.getuid?.() === 0 ? [] : ["--user"]), "--pid", "--fork", "sleep", "600"]

/** A process of nobody's launch in a pid namespace of its own, until the end of the scope. */
const stranger: Effect.Effect<number, never, Scope.Scope> = Effect.gen(function* () {
  const started = Effect.sync(() => childProcess.spawn("unshare", newNamespace, { stdio: "ignore" }))
  const parent = yield* Effect.acquireRelease(started, (child) => Effect.sync(() => child.kill("SIGKILL")))
  const find = () => lookAround().find((seen) => seen.parent === parent.pid && seen.command === "sleep 600")?.pid
  yield* Effect.promise(() => waitUntil(() => find() !== undefined))
  const pid = find() ?? 0
  yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(pid, "SIGKILL")))
  return pid
})

/** The kernel gives the lowest number that is free, so it comes soon unless somebody else takes it. */
const strangerIn = Effect.fnUntraced(function* (namespace: string) {
  for (let tries = 0; tries < 32; tries++) {
    const pid = yield* stranger
    if (namespaceOf(pid) === namespace) return pid
  }
  return undefined
})

it(
  "a process is not of a launch because its namespace got the number of the launch's own",
  { timeout: 60_000 },
  async (context) => {
    const probe = (await probedBackends()).find(({ backend }) => backend === "namespace")
    context.skip(probe?.usable !== true, "the backend is not usable here")
    await runWithLinks(
      folder,
      Effect.gen(function* () {
        const os = yield* Os
        yield* os.backend("namespace")
        const marker = `number_${process.pid}`
        const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" }
        const launch = yield* os.spawn({ command: "sleep", args: ["600"], env, cwd: "/", marker, backend: "namespace" })
        const namespace = namespaceOf(launch.identity.pid)
        yield* Effect.promise(() => waitUntil(async () => (await Effect.runPromise(os.census(marker))).length > 0))
        yield* launch.release
        const taken = yield* strangerIn(namespace)
        context.skip(taken === undefined, "the number of the namespace was not given again")
        expect(yield* os.census(marker)).toEqual([])
        yield* os.ledger.remove(marker)
      })
    )
  }
)
