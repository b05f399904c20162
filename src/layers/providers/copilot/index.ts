/**
 * GitHub Copilot CLI. Its own service needs a token bound to the launch (`COPILOT_GITHUB_TOKEN`) or the login of the user.
 *
 * Hooks, servers and settings of a workspace are not loaded in this mode; MCP servers of the client only over http and sse.
 */
import { join } from "node:path"
import { cacheFolder } from "../../folders.ts"
import { providerOf, type Start } from "../profile.ts"

export const copilot = providerOf({
  id: "copilot",
  name: "GitHub Copilot",
  commands: ["copilot"],
  args: ["--acp", "--stdio", "--disable-builtin-mcps", "--no-auto-update", "--no-bash-env", "--no-remote-export"],
  traits: {
    gate: { edit: "asks", execute: "asks", fetch: "asks", mcp: "asks" },
    toolKindTrusted: true,
    closesToolsOnCancel: false,
    modelAtLaunch: true,
    dropsStdioMcp: true
  },
  distribution: {
    package: "@github/copilot-{platform}",
    version: "1.0.88",
    executable: "copilot",
    sha256: { "linux-x64": "0059754cf78c3f3bf2c9d4564dfa7e9e25f3a3f8f411f2f0cdad9363f5662748" }
  },
  packages: ["@github/copilot"],
  start: (start) => ({
    args: withheld(start.options.credentials ?? []),
    env: {
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_ALLOW_ALL: "false",
      ...(start.options.model === undefined ? {} : { COPILOT_MODEL: start.options.model }),
      ...homes(start)
    },
    userEnv: ["COPILOT_HOME", "GH_HOST", "COPILOT_GH_HOST"]
  }),
  withModelServer: (server, { options }) => ({
    env: {
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: `${server.origin}/v1`,
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_MODEL: options.model ?? "gpt-4.1"
    }
  })
})

/** The agent keeps these from its shells and redacts them from its output. */
const withheld = (credentials: ReadonlyArray<string>): ReadonlyArray<string> =>
  credentials.length === 0 ? [] : [`--secret-env-vars=${credentials.join(",")}`]

/** The package that it unpacks (166 MB, a second) is the same for all homes. */
const homes = ({ options, privateHome }: Start): Record<string, string> =>
  privateHome === undefined
    ? {}
    : {
        COPILOT_HOME: join(privateHome, ".copilot"),
        COPILOT_CACHE_HOME: join(privateHome, ".copilot-cache"),
        COPILOT_PKG_CACHE_HOME: join(cacheFolder(options.hostEnv), "copilot-packages")
      }
