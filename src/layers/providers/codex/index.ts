/**
 * OpenAI Codex over ACP, by Zed's adapter: one executable. What is given with `-c` wins over the configuration of the user
 * and of the workspace, so neither can open the gate.
 */
import { join } from "node:path"
import { providerOf } from "../profile.ts"

export const codex = providerOf({
  id: "codex",
  name: "OpenAI Codex",
  commands: ["codex-acp"],
  // Under `untrusted` edits ask, and all commands but those that Codex knows to read only. Its own sandbox stays off: where
  // bubblewrap is missing, commands that were allowed fail in it, and where it is there, they are run once in vain.
  args: settings({ approval_policy: "untrusted", sandbox_mode: "danger-full-access" }),
  traits: {
    // A command that Codex takes for a reading one (`cat`, `ls`) runs unasked, also outside the workspace: no promise about
    // commands can be kept. A search of the web is made by the model's own service.
    gate: { edit: "asks", execute: "unknown", fetch: "silent", mcp: "asks" },
    // A shell command that Codex takes for a reading one is of kind `read`.
    toolKindTrusted: false,
    closesToolsOnCancel: false,
    modelAtLaunch: true,
    // It never ends at the end of its input.
    graces: { eofMs: 50 }
  },
  distribution: {
    package: "@zed-industries/codex-acp-{platform}",
    version: "0.16.0",
    executable: "bin/codex-acp",
    sha256: { "linux-x64": "23a9f2af247fc61aa9a895d5ee91a62a35d05a883bddc2c85d1dc6b2be697087" }
  },
  packages: ["@zed-industries/codex-acp"],
  start: ({ options, privateHome }) => ({
    args: options.model === undefined ? [] : settings({ model: options.model }),
    env: { NO_BROWSER: "1", ...(privateHome === undefined ? {} : { CODEX_HOME: join(privateHome, ".codex") }) },
    userEnv: ["CODEX_HOME"],
    // It insists on the folder.
    files: { ".codex/config.toml": "# What this launch needs is on its command line.\n" }
  }),
  withModelServer: (server, { options }) => ({
    args: settings({
      ...(options.model === undefined ? { model: "gpt-5.4" } : {}),
      model_provider: "server",
      "model_providers.server.name": "Model server",
      "model_providers.server.base_url": `${server.origin}/v1`,
      "model_providers.server.wire_api": "responses",
      "model_providers.server.request_max_retries": 1,
      "model_providers.server.stream_max_retries": 1,
      "model_providers.server.requires_openai_auth": false
    })
  })
})

/** Values are TOML, which writes text, numbers and booleans as JSON does. */
function settings(values: Readonly<Record<string, string | number | boolean>>): ReadonlyArray<string> {
  return Object.entries(values).flatMap(([key, value]) => ["-c", `${key}=${JSON.stringify(value)}`])
}
