/**
 * Whether a policy can be kept with an agent, told before any process exists.
 *
 * A policy is a promise about edits and commands. An agent that makes them without asking and without a sandbox breaks it in
 * silence, so the promise is not made. `approve-all` promises nothing.
 */
import type { PermissionPolicy } from "../schema/request.ts"
import type { Traits } from "./Provider.ts"

export type GatedEffect = "edit" | "execute"

export type GateVerdict =
  | { readonly _tag: "Open" }
  /** Nobody has measured these effects: the session opens and says so (`gate_unverified`). */
  | { readonly _tag: "OpenUnverified"; readonly effects: ReadonlyArray<GatedEffect> }
  /** `PolicyNotEnforceable`: no process is started. */
  | { readonly _tag: "NotEnforceable"; readonly effects: ReadonlyArray<GatedEffect> }

export const gateVerdict = (policy: PermissionPolicy, traits: Pick<Traits, "gate">): GateVerdict => {
  if (policy === "approve-all") return { _tag: "Open" }
  const silent = gatedEffects.filter((effect) => traits.gate[effect] === "silent")
  const unknown = gatedEffects.filter((effect) => traits.gate[effect] === "unknown")
  const broken = policy === "deny-all" ? gatedEffects.filter((e) => silent.includes(e) || unknown.includes(e)) : silent
  if (broken.length > 0) return { _tag: "NotEnforceable", effects: broken }
  return unknown.length > 0 ? { _tag: "OpenUnverified", effects: unknown } : { _tag: "Open" }
}

const gatedEffects: ReadonlyArray<GatedEffect> = ["edit", "execute"]
