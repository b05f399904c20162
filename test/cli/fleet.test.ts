import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { it } from "@effect/vitest"
import { describe, expect } from "vitest"
import { makeFleet } from "../../src/cli/fleet.ts"
import { LaunchFailed } from "../../src/schema/errors.ts"
import { type AgentLink, AgentLinks, type CleanupReport } from "../../src/services/AgentLink.ts"

const launch = (command: string) => ({ command, args: [], env: {}, cwd: "/" })

const report = (processesSeen: number): CleanupReport => ({
  exit: { _tag: "Code", code: 0 },
  steps: [],
  proof: "in-process",
  processesSeen,
  survivors: []
})

/** The command is the number of its processes; `fail` fails. */
const world = () => {
  const killed: Array<string> = []
  const links = Layer.succeed(
    AgentLinks,
    AgentLinks.of({
      open: ({ command }) =>
        command === "fail"
          ? Effect.fail(new LaunchFailed({ command, reason: "test" }))
          : Effect.succeed<AgentLink>({
              pull: Effect.never,
              write: () => Effect.void,
              end: Effect.void,
              exit: Effect.never,
              identity: undefined,
              backend: "in-process",
              stderrTail: () => [],
              close: Effect.succeed(report(Number(command))),
              kill: Effect.sync(() => (killed.push(command), report(Number(command))))
            })
    })
  )
  const fleet = makeFleet()
  const open = (command: string) => Effect.flatMap(AgentLinks, (all) => all.open(launch(command)))
  return { fleet, killed, layer: Layer.provide(fleet.layer, links), open }
}

describe("the fleet", () => {
  it.effect("has one report of every link that was opened, once it is closed", () =>
    Effect.gen(function* () {
      const { fleet, layer, open } = world()
      yield* Effect.gen(function* () {
        yield* Effect.scoped(open("1"))
        yield* Effect.flip(Effect.scoped(open("fail")))
        yield* Effect.scoped(
          Effect.andThen(
            open("2"),
            Effect.sync(() => expect(fleet.reports()).toHaveLength(1))
          )
        )
      }).pipe(Effect.provide(layer))
      expect(fleet.reports().map(({ processesSeen }) => processesSeen)).toEqual([1, 2])
    })
  )

  it.effect("kills what is open, and nothing else", () =>
    Effect.gen(function* () {
      const { fleet, killed, layer, open } = world()
      yield* Effect.gen(function* () {
        yield* Effect.scoped(open("1"))
        yield* open("2")
        yield* open("3")
        yield* fleet.kill
      }).pipe(Effect.scoped, Effect.provide(layer))
      expect(killed).toEqual(["2", "3"])
    })
  )
})
