/** Real agents for tests, fetched once into the user's cache. Where one cannot be had, a test is skipped and says why. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import type { AgentInstallFailed } from "../../src/schema/errors.ts"
import { providerById } from "../../src/layers/providers/catalogue.ts"
import { install } from "../../src/layers/providers/install.ts"
import { overrideVariable } from "../../src/layers/providers/profile.ts"

export type EnsuredAgent =
  | { readonly path: string; readonly skipped?: false }
  | { readonly skipped: true; readonly reason: string }

/** A wrong hash or a package without its executable is a failure of ours, not a reason to skip. */
const excuses: ReadonlySet<AgentInstallFailed["reason"]> = new Set([
  "npm_missing",
  "package_not_found",
  "platform_unsupported",
  "registry_unreachable",
  "registry_refused",
  "timed_out"
])

/** The pinned version, or what `GREENROOM_AGENT_<ID>` names. Looked for once: the executables are large, and checked whole. */
export const ensureAgent = (id: string): Promise<EnsuredAgent> => {
  const known = ensured.get(id) ?? ensure(id)
  ensured.set(id, known)
  return known
}

const ensured = new Map<string, Promise<EnsuredAgent>>()

const ensure = (id: string): Promise<EnsuredAgent> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const provider = yield* providerById(id)
      if (provider === undefined) return yield* Effect.die(new Error(`no agent ${id}`))
      const { distribution } = provider
      if (distribution !== undefined && (process.env[overrideVariable(id)] ?? "") === "") {
        const installed = yield* Effect.exit(install(id, distribution, process.env))
        if (Exit.isFailure(installed)) return yield* skipOrFail(installed.cause)
        return { path: installed.value.executable }
      }
      const located = yield* provider.locate(process.env)
      return located._tag === "Found" ? { path: located.command } : { skipped: true as const, reason: located.hint }
    })
  )

const skipOrFail = (cause: Cause.Cause<AgentInstallFailed>): Effect.Effect<EnsuredAgent, AgentInstallFailed> => {
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  return failure !== undefined && excuses.has(failure.reason)
    ? Effect.succeed({ skipped: true, reason: `${failure.package}: ${failure.reason} ${failure.detail}`.trim() })
    : Effect.failCause(cause)
}
