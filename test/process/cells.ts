/**
 * What can happen to an agent's processes, as data: each kind of child under each ending, per backend, with the guarantee
 * that the backend gives. The runner shows what happened.
 */
import type { Backend } from "../../src/services/Os.ts"

/** `not covered`: no promise; the run shows what happened and cannot fail. */
export type Guarantee = "ended" | "survives" | "not covered"

export interface Child {
  readonly name: string
  /** Shell text that starts it; `$TAG` is a number that no other process has as its last argument. */
  readonly start: string
  /** Only there after the agent got SIGTERM. */
  readonly atTerm?: boolean
  readonly guarantee: Readonly<Record<Backend, Guarantee>>
}

const everywhere: Child["guarantee"] = { namespace: "ended", marked: "ended" }

export const children: ReadonlyArray<Child> = [
  { name: "in the same group", start: "sleep $TAG &", guarantee: everywhere },
  { name: "in a group of its own", start: "timeout 4000000 sleep $TAG &", guarantee: everywhere },
  { name: "in a session of its own", start: "setsid sleep $TAG &", guarantee: everywhere },
  { name: "forked twice", start: "( setsid sleep $TAG & )", guarantee: everywhere },
  { name: "ignores SIGTERM", start: "( trap '' TERM HUP INT; exec sleep $TAG ) &", guarantee: everywhere },
  {
    name: "forked twice at SIGTERM",
    start: "( setsid sleep $TAG & )",
    atTerm: true,
    guarantee: everywhere
  },
  {
    name: "dropped its environment",
    start: "env -i setsid sleep $TAG &",
    guarantee: { namespace: "ended", marked: "not covered" }
  }
]

/** How the launch or its host ends. Only a ladder sends SIGTERM. */
export const endings = ["close", "kill", "SIGKILL", "SIGHUP", "uncaught error", "process.exit"] as const
export type Ending = (typeof endings)[number]

export const isHostDeath = (ending: Ending) => ending !== "close" && ending !== "kill"

/** 200 forks a second for two seconds, from a session of its own into sessions of their own. */
export const forkStorm = `setsid sh -c 'n=0; while [ $n -lt 400 ]; do setsid sleep $TAG & n=$((n+1)); sleep 0.004; done' &`

export const backends: ReadonlyArray<Backend> = ["namespace", "marked"]
