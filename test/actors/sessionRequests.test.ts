import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Actor from "../../src/actors/kernel/Actor.ts"
import * as Registry from "../../src/actors/kernel/Registry.ts"
import type { RequestMessage } from "../../src/actors/RuntimeRequest.ts"
import { makeSessionRequests } from "../../src/actors/sessionRequests.ts"
import { limits } from "../../src/schema/limits.ts"
import type { PermissionRequest } from "../../src/schema/request.ts"

const idle = Actor.spawn<RequestMessage, never, never>({
  name: "request:r",
  mailbox: { capacity: 1, policy: "suspend" },
  stopWithin: 1,
  behaviour: Effect.succeed({
    Open: () => Effect.void,
    Answer: () => Effect.void,
    Withdraw: () => Effect.void,
    TurnOver: () => Effect.void
  })
})

const asked: PermissionRequest = {
  requestId: "r",
  turnId: "t1",
  sessionId: "s1",
  nativeId: 0,
  toolCallId: "tool-1",
  title: "Run it",
  kind: "execute",
  target: { _tag: "None", reason: "no path" },
  options: [],
  locations: [],
  content: [],
  raw: {}
}

describe("the requests of a session", () => {
  it.effect("are found by their id and their slot while they are open, and no longer", () =>
    Effect.gen(function* () {
      const requests = makeSessionRequests()
      const request = yield* idle
      expect(requests.find("r")).toBe("unknown_request")
      requests.opened(asked, "c#0", request)
      expect(requests.find("r")).toBe(request)
      expect(requests.findBySlot("c#0")).toBe(request)
      expect(requests.open()).toEqual([asked])
      requests.ended("r", "c#0", "already_answered")
      expect(requests.find("r")).toBe("already_answered")
      expect(requests.findBySlot("c#0")).toBeUndefined()
      expect(requests.open()).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(Registry.layer))
  )

  it.effect("are remembered up to the bound once they have ended, the latest ones", () =>
    Effect.gen(function* () {
      const requests = makeSessionRequests()
      const end = (n: number) => requests.ended(`r${n}`, `c#${n}`, "stale")
      for (let n = 0; n < limits.rememberedRequestsMax; n++) end(n)
      expect(requests.find("r0")).toBe("stale")
      end(limits.rememberedRequestsMax)
      expect(requests.find("r0")).toBe("unknown_request")
      expect(requests.find("r1")).toBe("stale")
    })
  )
})
