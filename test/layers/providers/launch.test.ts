import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { existsSync, statSync } from "node:fs"
import { catalogue } from "../../../src/layers/providers/catalogue.ts"
import { overrideVariable } from "../../../src/layers/providers/profile.ts"
import type { Launch } from "../../../src/services/AgentLink.ts"
import type { HostEnvironment, LaunchOptions, Provider } from "../../../src/services/Provider.ts"
import { placeExecutable, placeFile, temporaryFolder } from "./temporary.ts"

/** Things of a host that no agent may get unasked. */
const forbidden: HostEnvironment = {
  GITHUB_TOKEN: "hidden-1",
  GH_TOKEN: "hidden-2",
  COPILOT_GITHUB_TOKEN: "hidden-3",
  OPENAI_API_KEY: "hidden-4",
  CODEX_API_KEY: "hidden-5",
  ANTHROPIC_API_KEY: "hidden-6",
  AWS_SECRET_ACCESS_KEY: "hidden-7",
  SSH_AUTH_SOCK: "hidden-8",
  NODE_OPTIONS: "--require=hidden-9",
  LD_PRELOAD: "hidden-10",
  BASH_ENV: "hidden-11"
}

const setUp = Effect.fnUntraced(function* (id: string) {
  const folder = yield* temporaryFolder
  const agent = yield* placeExecutable(folder, "agent")
  const host: HostEnvironment = {
    ...forbidden,
    PATH: "/usr/bin",
    HOME: `${folder}/user`,
    XDG_CACHE_HOME: `${folder}/cache`,
    [overrideVariable(id)]: agent
  }
  const options: LaunchOptions = {
    cwd: "/workspace",
    home: "private",
    model: undefined,
    modelServer: undefined,
    hostEnv: host
  }
  return { folder, agent, host, options }
})

const server = { origin: "http://127.0.0.1:4100" }

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

const text = (launch: Launch): string => JSON.stringify(launch)

const each = (sentence: string, test: (provider: Provider) => Effect.Effect<void, unknown, Scope.Scope>) =>
  describe(sentence, () => {
    for (const { id, load } of catalogue) it.effect(id, () => Effect.flatMap(load, test))
  })

describe("launch", () => {
  each("passes no secret and no loader variable of the host, in any home", (provider) =>
    Effect.gen(function* () {
      const { options } = yield* setUp(provider.id)
      for (const home of ["private", "user"] as const) {
        const launch = yield* provider.launch({ ...options, home })
        assert.notInclude(text(launch), "hidden-")
        assert.deepStrictEqual(
          Object.keys(forbidden).filter((name) => name in launch.env),
          []
        )
      }
    })
  )

  each("passes a credential that is bound to it, and no other", (provider) =>
    Effect.gen(function* () {
      const { options } = yield* setUp(provider.id)
      const launch = yield* provider.launch({ ...options, credentials: ["OPENAI_API_KEY"] })
      assert.strictEqual(launch.env["OPENAI_API_KEY"], "hidden-4")
      assert.strictEqual(text(launch).split("hidden-").length, 2)
    })
  )

  each("refuses a bound credential that the host does not have", (provider) =>
    Effect.gen(function* () {
      const { options } = yield* setUp(provider.id)
      const error = yield* Effect.flip(provider.launch({ ...options, credentials: ["NOT_THERE"] }))
      assert.deepInclude(error, { code: "environment_refused", variable: "NOT_THERE" })
    })
  )

  each("makes a private home of mode 700 that goes with its scope", (provider) =>
    Effect.gen(function* () {
      const { options, folder } = yield* setUp(provider.id)
      const scope = yield* Scope.make()
      const { env, home: named } = yield* Scope.provide(provider.launch(options), scope)
      const home = env["HOME"] ?? ""
      assert.strictEqual(named, home)
      assert.include(home, `${folder}/cache/greenroom/homes/`)
      const folders = Object.entries(env).filter(([name]) => /^XDG_|^TMPDIR$|^HOME$/.test(name))
      assert.deepStrictEqual(
        folders.map(([name, path]) => `${name} ${path.startsWith(home)} ${modeOf(path)}`),
        folders.map(([name]) => `${name} true 700`)
      )
      assert.lengthOf(folders, 7)
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(existsSync(home))
    })
  )

  each("gives two launches two private homes", (provider) =>
    Effect.gen(function* () {
      const { options } = yield* setUp(provider.id)
      const [one, two] = [yield* provider.launch(options), yield* provider.launch(options)]
      assert.notStrictEqual(one.env["HOME"], two.env["HOME"])
    })
  )

  each("keeps a private home that was given", (provider) =>
    Effect.gen(function* () {
      const { options, folder } = yield* setUp(provider.id)
      const given = `${folder}/given`
      const launch = yield* Effect.scoped(provider.launch({ ...options, privateHome: given }))
      assert.strictEqual(launch.env["HOME"], given)
      assert.isUndefined(launch.home)
      assert.strictEqual(modeOf(given), "700")
    })
  )

  each("points at nothing private when the home is the user's", (provider) =>
    Effect.gen(function* () {
      const { options, folder } = yield* setUp(provider.id)
      const { env, home } = yield* provider.launch({ ...options, home: "user" })
      assert.strictEqual(env["HOME"], `${folder}/user`)
      assert.isUndefined(home)
      assert.isFalse(existsSync(`${folder}/cache/greenroom/homes`))
      assert.isFalse(existsSync(`${folder}/user`))
    })
  )

  each("uses a model server or refuses it", (provider) =>
    Effect.gen(function* () {
      const { options, folder } = yield* setUp(provider.id)
      const launching = provider.launch({ ...options, home: "user", modelServer: server })
      if (provider.id === "bundled") {
        assert.deepInclude(yield* Effect.flip(launching), { code: "provider_setup_failed", agent: "bundled" })
        return
      }
      const launch = yield* launching
      assert.include(text(launch), `${server.origin}/v1`)
      assert.notStrictEqual(launch.env["HOME"], `${folder}/user`)
      assert.strictEqual(launch.env["NO_PROXY"], "127.0.0.1")
    })
  )

  each("says which executable is missing, before anything is made", (provider) =>
    Effect.gen(function* () {
      const { options, folder, host } = yield* setUp(provider.id)
      const hostEnv = { ...host, [overrideVariable(provider.id)]: `${folder}/nothing` }
      const error = yield* Effect.flip(provider.launch({ ...options, hostEnv }))
      assert.deepInclude(error, { code: "agent_missing", agent: provider.id })
      assert.isFalse(existsSync(`${folder}/cache`))
    })
  )

  it.effect("adds the model server to the hosts that no proxy serves", () =>
    Effect.gen(function* () {
      const provider = yield* byId("codex")
      const { options, host } = yield* setUp("codex")
      const hostEnv = { ...host, no_proxy: "internal", HTTP_PROXY: "http://proxy:3128" }
      const { env } = yield* provider.launch({ ...options, modelServer: server, hostEnv })
      assert.strictEqual(env["NO_PROXY"], "internal,127.0.0.1")
      assert.strictEqual(env["no_proxy"], "internal,127.0.0.1")
    })
  )

  it.effect("refuses a model server without a proper origin", () =>
    Effect.gen(function* () {
      const provider = yield* byId("codex")
      const { options } = yield* setUp("codex")
      const error = yield* Effect.flip(provider.launch({ ...options, modelServer: { origin: "nowhere" } }))
      assert.strictEqual(error.code, "provider_setup_failed")
    })
  )

  it.effect("gives a host without PATH, shell and locale a usable environment", () =>
    Effect.gen(function* () {
      const provider = yield* byId("codex")
      const { options, agent } = yield* setUp("codex")
      const { env } = yield* provider.launch({ ...options, hostEnv: { GREENROOM_AGENT_CODEX: agent } })
      assert.deepInclude(env, { PATH: "/usr/local/bin:/usr/bin:/bin", SHELL: "/bin/sh", LANG: "C.UTF-8" })
    })
  )
})

describe("private home", () => {
  const launchWith = Effect.fnUntraced(function* (make: (folder: string) => Effect.Effect<string>) {
    const provider = yield* byId("codex")
    const { options, folder } = yield* setUp("codex")
    const privateHome = yield* make(folder)
    return yield* Effect.flip(provider.launch({ ...options, privateHome }))
  })

  it.effect("is never behind a link", () =>
    Effect.gen(function* () {
      const error = yield* launchWith((folder) =>
        Effect.promise(async () => {
          const { mkdir, symlink } = await import("node:fs/promises")
          await mkdir(`${folder}/elsewhere`)
          await symlink(`${folder}/elsewhere`, `${folder}/link`)
          return `${folder}/link`
        })
      )
      assert.strictEqual(error.code, "provider_setup_failed")
    })
  )

  it.effect("is never a file", () =>
    Effect.map(
      launchWith((folder) => placeFile(folder, "file")),
      (error) => assert.strictEqual(error.code, "provider_setup_failed")
    )
  )

  it.effect("is never relative to the working directory", () =>
    Effect.map(
      launchWith(() => Effect.succeed("somewhere")),
      (error) => assert.strictEqual(error.code, "provider_setup_failed")
    )
  )
})

describe("copilot", () => {
  it.effect("keeps bound credentials from its shells", () =>
    Effect.gen(function* () {
      const provider = yield* byId("copilot")
      const { options } = yield* setUp("copilot")
      const { args } = yield* provider.launch({ ...options, credentials: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN"] })
      assert.include(args, "--secret-env-vars=COPILOT_GITHUB_TOKEN,GH_TOKEN")
    })
  )

  it.effect("never allows everything, and does not replace itself", () =>
    Effect.gen(function* () {
      const provider = yield* byId("copilot")
      const { options } = yield* setUp("copilot")
      const { args, env } = yield* provider.launch({ ...options, home: "user" })
      assert.deepInclude(env, { COPILOT_ALLOW_ALL: "false", COPILOT_AUTO_UPDATE: "false" })
      assert.includeMembers([...args], ["--acp", "--stdio", "--no-auto-update", "--disable-builtin-mcps"])
    })
  )

  it.effect("shares the unpacked program between private homes", () =>
    Effect.gen(function* () {
      const provider = yield* byId("copilot")
      const { options, folder } = yield* setUp("copilot")
      const { env } = yield* provider.launch(options)
      assert.strictEqual(env["COPILOT_PKG_CACHE_HOME"], `${folder}/cache/greenroom/copilot-packages`)
    })
  )
})

describe("codex", () => {
  it.effect("asks by its command line, which wins over every configuration", () =>
    Effect.gen(function* () {
      const provider = yield* byId("codex")
      const { options } = yield* setUp("codex")
      const { args, graces } = yield* provider.launch({ ...options, home: "user", model: 'gpt "x"' })
      assert.includeMembers([...args], ['approval_policy="untrusted"', 'model="gpt \\"x\\""'])
      assert.deepStrictEqual(graces, { eofMs: 50 })
    })
  )

  it.effect("finds its home made", () =>
    Effect.gen(function* () {
      const provider = yield* byId("codex")
      const { options } = yield* setUp("codex")
      const { env } = yield* provider.launch(options)
      assert.isTrue(existsSync(env["CODEX_HOME"] ?? ""))
      assert.strictEqual(modeOf(`${env["CODEX_HOME"]}/config.toml`), "600")
    })
  )
})

describe("opencode", () => {
  it.effect("brings the rules that make it ask, and reads no configuration of the workspace", () =>
    Effect.gen(function* () {
      const provider = yield* byId("opencode")
      const { options } = yield* setUp("opencode")
      const { env } = yield* provider.launch({ ...options, home: "user" })
      const rules: unknown = JSON.parse(env["OPENCODE_PERMISSION"] ?? "")
      assert.deepInclude(rules, { "*": "ask", bash: "ask", edit: "ask", webfetch: "ask", task: "deny" })
      assert.strictEqual(env["OPENCODE_DISABLE_PROJECT_CONFIG"], "1")
      const config: unknown = JSON.parse(env["OPENCODE_CONFIG_CONTENT"] ?? "")
      assert.deepInclude(config, { instructions: ["/workspace/AGENTS.md"], agent: { build: { permission: rules } } })
    })
  )
})

const byId = (id: string): Effect.Effect<Provider> =>
  catalogue.find((entry) => entry.id === id)?.load ?? Effect.die(new Error(`no provider ${id}`))
