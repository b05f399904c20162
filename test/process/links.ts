/** Owned links in this process, for tests. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as NodeOs from "../../src/layers/process/NodeOs.ts"
import * as ProcessLinks from "../../src/layers/process/ProcessLinks.ts"
import type { PlatformUnsupported } from "../../src/schema/errors.ts"
import { type AgentLink, AgentLinks, type Launch } from "../../src/services/AgentLink.ts"
import * as Ids from "../../src/services/Ids.ts"
import type { Os } from "../../src/services/Os.ts"

/** Real processes, with the ledgers in `ledgerFolder`. */
export const linksLayer = (ledgerFolder: string): Layer.Layer<AgentLinks | Os, PlatformUnsupported> =>
  Layer.provideMerge(ProcessLinks.layer, Layer.merge(NodeOs.layer({ ledgerFolder }), Ids.layer))

export const open = (launch: Launch) => Effect.flatMap(AgentLinks, (links) => links.open(launch))

/** Runs something with real processes to its end. */
export const runWithLinks = <A, E>(
  ledgerFolder: string,
  effect: Effect.Effect<A, E, AgentLinks | Os | Scope.Scope>
): Promise<A> => Effect.runPromise(Effect.provide(Effect.scoped(effect), linksLayer(ledgerFolder)))

/** Everything that the agent says until its output ends. */
export const readAll = (link: Pick<AgentLink, "pull">) =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    let text = ""
    for (;;) {
      const piece = yield* link.pull
      if (piece === undefined) return text + decoder.decode()
      text += decoder.decode(piece, { stream: true })
    }
  })

/** Reads until the text holds the words; `false` when the output ends before. */
export const readUntil = (link: Pick<AgentLink, "pull">, words: string) =>
  Effect.gen(function* () {
    let text = ""
    while (!text.includes(words)) {
      const piece = yield* link.pull
      if (piece === undefined) return false
      text += new TextDecoder().decode(piece)
    }
    return true
  })
