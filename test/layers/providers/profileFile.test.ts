import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { parseProfiles, profileFilePath, readProfiles } from "../../../src/layers/providers/profileFile.ts"
import { unknownTraits } from "../../../src/layers/providers/profile.ts"
import { limits } from "../../../src/schema/limits.ts"
import { placeExecutable, placeFile, temporaryFolder } from "./temporary.ts"

const file = "/home/user/.config/greenroom/greenroom.json"

const parse = (agents: unknown) => parseProfiles(JSON.stringify({ agents }), file)

describe("greenroom.json", () => {
  it.effect("makes a provider of five lines", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const agent = yield* placeExecutable(folder, "kiro-cli")
      const [provider] = Result.getOrThrow(
        parseProfiles(
          `{
            "agents": {
              "kiro": { "command": ["kiro-cli", "acp"] }
            }
          }`,
          file
        )
      )
      assert(provider !== undefined)
      assert.deepInclude(provider, { id: "kiro", name: "kiro", traits: unknownTraits })
      const located = yield* provider.locate({ PATH: folder })
      assert.deepStrictEqual(located, { _tag: "Found", command: agent, args: ["acp"], version: undefined })
    })
  )

  it.effect("may say all there is to say", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const agent = yield* placeExecutable(folder, "kiro-cli")
      const gate = { edit: "asks", execute: "sandboxed", fetch: "silent", mcp: "unknown" } as const
      const graces = { cancelMs: 2, eofMs: 0, termMs: limits.profileGraceMsMax, killMs: 1 }
      const profile = {
        command: [agent, "acp"],
        name: "Kiro",
        env: { KIRO_LOG: "off" },
        credentials: ["KIRO_TOKEN"],
        gate,
        toolKindTrusted: true,
        closesToolsOnCancel: true,
        graces
      }
      const [provider] = Result.getOrThrow(parse({ kiro: profile }))
      assert(provider !== undefined)
      assert.deepStrictEqual(provider.traits, { gate, toolKindTrusted: true, closesToolsOnCancel: true, graces })
      const launch = yield* provider.launch({
        cwd: "/workspace",
        home: "private",
        model: undefined,
        modelServer: undefined,
        hostEnv: { XDG_CACHE_HOME: folder, KIRO_TOKEN: "bound", OTHER_TOKEN: "unbound" }
      })
      assert.deepInclude(launch.env, { KIRO_LOG: "off", KIRO_TOKEN: "bound" })
      assert.notProperty(launch.env, "OTHER_TOKEN")
      assert.deepStrictEqual(launch.graces, graces)
    })
  )

  const command = ["agent"]
  const refused: ReadonlyArray<readonly [what: string, agents: unknown, path: string]> = [
    ["no agents", undefined, "agents"],
    ["a list of agents", [], "agents"],
    ["an agent without a command", { kiro: {} }, "agents.kiro.command"],
    ["a command that is one text", { kiro: { command: "kiro acp" } }, "agents.kiro.command"],
    ["an empty command", { kiro: { command: [] } }, "agents.kiro.command.0"],
    ["an empty word", { kiro: { command: ["kiro", ""] } }, "agents.kiro.command.1"],
    ["a NUL in a word", { kiro: { command: ["ki\0ro"] } }, "agents.kiro.command.0"],
    ["an id that is built in", { copilot: { command } }, "agents.copilot"],
    ["the id of a bare command", { command: { command } }, "agents.command"],
    ["an id with other characters", { "Kiro CLI": { command } }, "agents.Kiro CLI"],
    ["an unknown field", { kiro: { command, comand: 1 } }, "agents.kiro.comand"],
    ["an unknown gate", { kiro: { command, gate: { edit: "maybe" } } }, "agents.kiro.gate.edit"],
    ["an unknown effect", { kiro: { command, gate: { sing: "asks" } } }, "agents.kiro.gate.sing"],
    ["a grace below zero", { kiro: { command, graces: { eofMs: -1 } } }, "agents.kiro.graces.eofMs"],
    [
      "a grace too long",
      { kiro: { command, graces: { killMs: limits.profileGraceMsMax + 1 } } },
      "agents.kiro.graces.killMs"
    ],
    ["a loader variable", { kiro: { command, env: { LD_PRELOAD: "x" } } }, "agents.kiro.env.LD_PRELOAD"],
    ["a variable without a name", { kiro: { command, env: { "": "x" } } }, "agents.kiro.env."],
    [
      "a loader variable as credential",
      { kiro: { command, credentials: ["NODE_OPTIONS"] } },
      "agents.kiro.credentials.0"
    ]
  ]

  it.each(refused.map(([what, agents, path]) => ({ what, agents, path })))(
    "is refused with $what",
    ({ agents, path }) => {
      const result = parse(agents)
      assert(Result.isFailure(result))
      assert.deepInclude(result.failure, { code: "profile_invalid", file, path })
    }
  )

  it("is refused without repeating the values in it", () => {
    const result = parse({ kiro: { command: ["kiro"], env: { TOKEN: ["hunter2"] }, credentials: "hunter2" } })
    assert(Result.isFailure(result))
    assert.notInclude(JSON.stringify(result.failure), "hunter2")
  })

  it("is refused as a whole when it is not JSON", () => {
    const result = parseProfiles("{ agents: }", file)
    assert(Result.isFailure(result))
    assert.deepInclude(result.failure, { path: "", reason: "not JSON" })
  })

  it("may have so many profiles and no more", () => {
    const some = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, { command }]))
    assert.lengthOf(Result.getOrThrow(parse(some(limits.profilesMax))), limits.profilesMax)
    assert(Result.isFailure(parse(some(limits.profilesMax + 1))))
  })

  it.effect("may be missing", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      assert.deepStrictEqual(yield* readProfiles(`${folder}/greenroom.json`), [])
    })
  )

  it.effect("may have so many bytes and no more", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const text = JSON.stringify({ agents: { kiro: { command } } })
      const full = yield* placeFile(folder, "full.json", text.padEnd(limits.profileFileBytesMax))
      assert.lengthOf(yield* readProfiles(full), 1)
      const over = yield* placeFile(folder, "over.json", text.padEnd(limits.profileFileBytesMax + 1))
      const error = yield* Effect.flip(readProfiles(over))
      assert.deepInclude(error, { code: "profile_invalid", file: over })
    })
  )

  it.effect("is refused when it cannot be read", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      assert.deepInclude(yield* Effect.flip(readProfiles(folder)), { reason: "the file cannot be read" })
    })
  )

  it("is looked for in the user's configuration only", () => {
    assert.strictEqual(profileFilePath({ XDG_CONFIG_HOME: "/c", HOME: "/h" }), "/c/greenroom/greenroom.json")
    assert.strictEqual(profileFilePath({ XDG_CONFIG_HOME: "c", HOME: "/h" }), "/h/.config/greenroom/greenroom.json")
  })
})
