import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { providerFromCommand, splitCommand } from "../../../src/layers/providers/command.ts"
import { unknownTraits } from "../../../src/layers/providers/profile.ts"
import { limits } from "../../../src/schema/limits.ts"
import { placeExecutable, temporaryFolder } from "./temporary.ts"

const words: ReadonlyArray<readonly [command: string, words: ReadonlyArray<string>]> = [
  ["agent", ["agent"]],
  ["  agent   acp\t--x\n", ["agent", "acp", "--x"]],
  [`agent "two words" 'and "these"'`, ["agent", "two words", 'and "these"']],
  [`agent a"b c"d'e f'`, ["agent", "ab cde f"]],
  [String.raw`my\ agent a\"b "c\"d\\e\n"`, ["my agent", 'a"b', String.raw`c"d\e\n`]],
  [`agent "" ''`, ["agent", "", ""]],
  ["agent $HOME *.ts > out | cat ; x && y `z`", "agent $HOME *.ts > out | cat ; x && y `z`".split(" ")]
]

describe("a command", () => {
  it.each(words.map(([command, expected]) => ({ command, expected })))("$command", ({ command, expected }) => {
    assert.deepStrictEqual(Result.getOrThrow(splitCommand(command)), expected)
  })

  it.each(["", "   ", "''", `"open`, "'open", "ends\\", "a 'b' \"c"])("is refused: %j", (command) => {
    const refused = splitCommand(command)
    assert(Result.isFailure(refused))
    assert.deepInclude(refused.failure, { code: "profile_invalid", path: "command" })
  })

  it("may have so many words and no more", () => {
    const command = Array.from({ length: limits.commandWordsMax }, () => "a").join(" ")
    assert(Result.isSuccess(splitCommand(command)))
    assert(Result.isFailure(splitCommand(`${command} a`)))
  })

  it.effect("becomes a provider of which nothing is known", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const agent = yield* placeExecutable(folder, "my-agent")
      const provider = Result.getOrThrow(providerFromCommand("my-agent acp --fast"))
      assert.deepStrictEqual(provider.traits, unknownTraits)
      const launch = yield* provider.launch({
        cwd: "/workspace",
        home: "private",
        model: undefined,
        modelServer: undefined,
        hostEnv: { PATH: folder, XDG_CACHE_HOME: folder }
      })
      assert.deepInclude(launch, { command: agent, args: ["acp", "--fast"], cwd: "/workspace" })
    })
  )

  it.effect("is taken by its absolute path, and not relative to the working directory", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const agent = yield* placeExecutable(folder, "my-agent")
      const found = yield* Result.getOrThrow(providerFromCommand(agent)).locate({})
      assert.deepInclude(found, { _tag: "Found", command: agent })
      const relative = yield* Result.getOrThrow(providerFromCommand("./bin/agent")).locate({ PATH: folder })
      assert.strictEqual(relative._tag, "Missing")
    })
  )
})
