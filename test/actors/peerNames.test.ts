import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { isPeerOf, isPeerOfCompany, peerName } from "../../src/actors/peerNames.ts"
import { greeted, inRunner, operator, playedRuns, said, settle, takeJson, tenant } from "./controlHost.ts"
import { started } from "./durableHost.ts"

describe("the name of a peer", () => {
  it("is one for each authority, in whatever order it names its runs", () => {
    const authorities = [
      operator,
      tenant("acme"),
      tenant("acme", []),
      tenant("acme", ["r1"]),
      tenant("acme", ["r1", "r2"]),
      tenant("other")
    ]
    expect(new Set(authorities.map((authority) => peerName(authority, "n"))).size).toBe(authorities.length)
    expect(peerName(tenant("acme", ["r2", "r1"]), "n")).toBe(peerName(tenant("acme", ["r1", "r2", "r1"]), "n"))
  })

  it("tells whose events it gets", () => {
    const peer = peerName(tenant("acme", ["r1"]), "n")
    expect([isPeerOf(peer, "acme"), isPeerOf(peer, "acm"), isPeerOf(peer, null)]).toEqual([true, false, false])
    expect([isPeerOf(peerName(operator, "n"), null), isPeerOfCompany(peerName(operator, "n"), "acme")]).toEqual([
      true,
      false
    ])
  })

  it.effect("is not shared with a token for fewer runs, whose acknowledgement costs nobody an event", () =>
    inRunner(
      Effect.gen(function* () {
        yield* said("r1", started("t1"))
        yield* said("r2", started("t2"))
        const all = yield* greeted(tenant("acme"), { name: "n" })
        yield* all.peer.close
        const few = yield* greeted(tenant("acme", ["r2"]), { name: "n" })
        expect(yield* takeJson(few.peer)).toMatchObject({ kind: "event", runId: "r2" })
        yield* few.peer.write(few.frame("ack", { ackedSourceSeq: 2 }))
        yield* settle
        const again = yield* greeted(tenant("acme"), { name: "n" })
        expect(yield* takeJson(again.peer)).toMatchObject({ kind: "event", runId: "r1" })
      }),
      playedRuns({ r1: "acme", r2: "acme" })
    )
  )
})
