/**
 * A host as a process of its own: opens the launches it is told on the command line, then does what its stdin says, one JSON
 * value a line. Every answer is one JSON line.
 */
import * as readline from "node:readline"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import * as NodeOs from "../../src/layers/process/NodeOs.ts"
import * as ProcessLinks from "../../src/layers/process/ProcessLinks.ts"
import { type AgentLink, AgentLinks, type Launch } from "../../src/services/AgentLink.ts"
import * as Ids from "../../src/services/Ids.ts"
import { Os } from "../../src/services/Os.ts"

export interface HostConfig {
  readonly ledgerFolder: string
  readonly launches: ReadonlyArray<Launch>
}

export type HostOrder = "close" | "kill" | "throw" | "exit" | "backends" | "release"

const config: HostConfig = JSON.parse(process.argv[2] ?? "")

const say = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)

const runtime = ManagedRuntime.make(
  Layer.provideMerge(ProcessLinks.layer, Layer.merge(NodeOs.layer({ ledgerFolder: config.ledgerFolder }), Ids.layer))
)
const scope = Scope.makeUnsafe()
const links: ReadonlyArray<AgentLink> = await runtime.runPromise(
  Effect.gen(function* () {
    const { open } = yield* AgentLinks
    return yield* Scope.provide(Effect.forEach(config.launches, open), scope)
  })
)
say({ opened: links.map((link) => ({ pid: link.identity?.pid, backend: link.backend })) })

const orders: Record<HostOrder, () => Promise<object>> = {
  close: async () => ({ reports: await runtime.runPromise(Effect.forEach(links, (link) => link.close)) }),
  kill: async () => ({ reports: await runtime.runPromise(Effect.forEach(links, (link) => link.kill)) }),
  backends: () => runtime.runPromise(Effect.flatMap(Os, (os) => Effect.map(os.backends, (backends) => ({ backends })))),
  release: async () => {
    await runtime.runPromise(Scope.close(scope, Exit.void))
    await runtime.dispose()
    input.close()
    return { released: true }
  },
  throw: async () => {
    setImmediate(() => {
      throw new Error("uncaught, on purpose")
    })
    return {}
  },
  exit: () => process.exit(3)
}

const input = readline.createInterface({ input: process.stdin })
input.on("line", (line) => {
  const order: HostOrder = JSON.parse(line)
  void orders[order]().then(say)
})
