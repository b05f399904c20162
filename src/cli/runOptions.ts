/** What `greenroom run` is asked to do, checked before anything is started. */
import type { PermissionPolicy } from "../schema/request.ts"
import type { Backend } from "../services/Os.ts"

export interface RunOptions {
  /** `-`: everything that stdin has. */
  readonly prompt: string
  readonly agent: string | undefined
  readonly agentCommand: string | undefined
  readonly cwd: string
  readonly policy: PermissionPolicy
  readonly model: string | undefined
  readonly mode: string | undefined
  readonly home: "user" | "private" | undefined
  readonly timeoutMs: number | undefined
  readonly images: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  readonly embeds: ReadonlyArray<string>
  readonly mcp: ReadonlyArray<string>
  readonly credentials: ReadonlyArray<string>
  readonly demoModel: boolean
  readonly backend: Backend | undefined
  readonly record: string | undefined
  readonly json: boolean
}
