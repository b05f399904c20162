/** A runner over one agent in this process that ends when its recording says so, not when it is told to. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { Connection } from "../../src/actors/Connection.ts"
import * as Connections from "../../src/actors/Connections.ts"
import * as Journal from "../../src/actors/Journal.ts"
import * as Registry from "../../src/actors/kernel/Registry.ts"
import * as Runner from "../../src/actors/Runner.ts"
import { AgentLinks } from "../../src/services/AgentLink.ts"
import { Files } from "../../src/services/Files.ts"
import * as Ids from "../../src/services/Ids.ts"
import { type FakeAgent, makeFakeLinks } from "../../src/testing/FakeLinks.ts"

export interface RecordedHost {
  readonly layer: Layer.Layer<Runner.Runner>
  /** Once our host has started it. */
  readonly agent: Effect.Effect<FakeAgent>
  /** Nothing more will be played: the agent ends when it is told to. */
  readonly played: Effect.Effect<void>
  /** Nobody reads the agent any more. */
  readonly isUnread: () => boolean
  /** Once the agent has shaken hands. */
  readonly connection: () => Connection | undefined
}

export const makeRecordedHost = (): RecordedHost => {
  const agent = Deferred.makeUnsafe<FakeAgent>()
  const played = Deferred.makeUnsafe<void>()
  let connection: Connection | undefined
  let isUnread = false
  const unread = Effect.sync(() => void (isUnread = true))
  const fakes = makeFakeLinks((opened) => Effect.sync(() => Deferred.doneUnsafe(agent, Exit.succeed(opened))))

  const links = Layer.effect(
    AgentLinks,
    Effect.map(AgentLinks, (made) =>
      AgentLinks.of({
        open: (launch) =>
          Effect.gen(function* () {
            const link = yield* made.open(launch)
            const ended = Effect.raceFirst(Effect.asVoid(link.exit), Deferred.await(played))
            const close = Effect.uninterruptible(Effect.andThen(unread, Effect.andThen(ended, link.close)))
            yield* Effect.addFinalizer(() => close)
            return { ...link, close }
          })
      })
    )
  ).pipe(Layer.provide(fakes.layer))

  const observe = Effect.fnUntraced(function* (opened: Connection) {
    connection = opened
    yield* Effect.forkScoped(Effect.andThen(opened.closed, unread))
  })
  const connections = Layer.effect(
    Connections.Connections,
    Effect.map(Connections.Connections, (made) =>
      Connections.Connections.of({
        ...made,
        claim: (name, launch) => Effect.tap(made.claim(name, launch), (claim) => observe(claim.connection))
      })
    )
  ).pipe(Layer.provide(Connections.layer))

  const files = Layer.succeed(Files, Files.of({ realPath: (path) => Effect.succeed(path) }))
  const layer = Runner.layer.pipe(
    Layer.provide(connections),
    Layer.provide(Journal.layer),
    Layer.provide(Layer.mergeAll(links, Registry.layer, Ids.layer, files))
  )
  return {
    layer,
    agent: Deferred.await(agent),
    played: Effect.asVoid(Deferred.succeed(played, undefined)),
    isUnread: () => isUnread,
    connection: () => connection
  }
}

export const openOptions: Runner.OpenOptions = {
  provider: {
    id: "recorded",
    name: "Recorded",
    traits: {
      gate: { edit: "asks", execute: "asks", fetch: "asks", mcp: "asks" },
      toolKindTrusted: true,
      closesToolsOnCancel: false
    },
    locate: () => Effect.succeed({ _tag: "Found", command: "recorded", args: [], version: undefined }),
    launch: (options) => Effect.succeed({ command: "recorded", args: [], env: {}, cwd: options.cwd })
  },
  cwd: "/workspace",
  home: "private",
  hostEnv: {},
  policy: "ask",
  canAsk: true
}
