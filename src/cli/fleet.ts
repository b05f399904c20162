/** Every link that a run opens, to kill them all, and what ending them proved. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type AgentLink, AgentLinks, type CleanupReport } from "../services/AgentLink.ts"

export interface Fleet {
  /** One report of each link that was opened, complete once its scope has closed. */
  readonly reports: () => ReadonlyArray<CleanupReport>
  /** Ends every open link without graces. */
  readonly kill: Effect.Effect<void>
  /** The same links, observed. */
  readonly layer: Layer.Layer<AgentLinks, never, AgentLinks>
}

export const makeFleet = (): Fleet => {
  const open = new Set<AgentLink>()
  const reports: Array<CleanupReport> = []

  const ended = (link: AgentLink) =>
    Effect.map(link.close, (report) => {
      open.delete(link)
      reports.push(report)
    })

  return {
    reports: () => reports,
    kill: Effect.suspend(() =>
      Effect.forEach([...open], (link) => link.kill, { concurrency: "unbounded", discard: true })
    ),
    layer: Layer.effect(
      AgentLinks,
      Effect.map(AgentLinks, (links) =>
        AgentLinks.of({
          open: (launch) =>
            Effect.uninterruptibleMask((restore) =>
              restore(links.open(launch)).pipe(
                Effect.tap((link) => {
                  open.add(link)
                  return Effect.addFinalizer(() => ended(link))
                })
              )
            )
        })
      )
    )
  }
}
