/**
 * opencode. By itself it asks for nothing, so each launch brings its rules along, and the configuration of the workspace is
 * not read: it could take them back. `AGENTS.md` of the working directory is, by its full path.
 *
 * Not guaranteed: plugins in the workspace (`.opencode/plugin`) are run by this version at its start whatever it is told.
 */
import { join } from "node:path"
import { providerOf, type Start } from "../profile.ts"

export const opencode = providerOf({
  id: "opencode",
  name: "opencode",
  commands: ["opencode"],
  args: ["acp"],
  traits: {
    gate: { edit: "asks", execute: "asks", fetch: "asks", mcp: "asks" },
    toolKindTrusted: true,
    closesToolsOnCancel: true,
    modelAtLaunch: true,
    // Its first cancel takes 0.05 s on an idle machine, and took more than 5 s on a busy one.
    graces: { cancelMs: 20_000 }
  },
  distribution: {
    package: "opencode-{platform}",
    version: "1.18.33",
    executable: "bin/opencode",
    sha256: { "linux-x64": "0abbb7c32ab0294c0a7bfa2705f9ff0df5dce5ab721d1f00cccfe393f2a11427" }
  },
  packages: ["opencode-"],
  start: (start) => ({
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_SHARE: "1",
      OPENCODE_DISABLE_PROJECT_CONFIG: "1",
      OPENCODE_PERMISSION: JSON.stringify(permission),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(start))
    }
  }),
  withModelServer: (server, start) => ({
    env: {
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        ...configuration(start),
        ...servedModel(server.origin, start.options.model ?? "gpt-4.1")
      })
    }
  })
})

/** The last rule that fits decides. Tools of MCP servers and tools to come fall under `*`; what is named wins over the same
 * name in the configuration of the user. */
const permission = {
  "*": "ask",
  bash: "ask",
  edit: "ask",
  webfetch: "ask",
  websearch: "ask",
  external_directory: "ask",
  doom_loop: "ask",
  read: { "*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow" },
  glob: "allow",
  grep: "allow",
  list: "allow",
  lsp: "allow",
  skill: "allow",
  todoread: "allow",
  todowrite: "allow",
  // What a subagent asks never reaches the client: its turn would hang.
  task: "deny"
}

const configuration = ({ options }: Start) => ({
  autoupdate: false,
  share: "disabled",
  instructions: [join(options.cwd, "AGENTS.md")],
  agent: { build: { permission } },
  ...(options.model === undefined ? {} : { model: options.model })
})

/** A provider of its own for the server, and no other. The key is none: the agent insists on one. */
const servedModel = (origin: string, model: string) => ({
  model: `server/${model}`,
  small_model: `server/${model}`,
  enabled_providers: ["server"],
  provider: {
    server: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${origin}/v1`, apiKey: "none" },
      models: {
        [model]: {
          tool_call: true,
          attachment: true,
          modalities: { input: ["text", "image"], output: ["text"] },
          limit: { context: 64_000, output: 4_096 }
        }
      }
    }
  }
})
