/**
 * The processes of a simulated machine: births, forks, ends, zombies, and numbers that are used again as soon as they are free.
 * Every change is one synchronous step; what takes time is a fiber that ends with its process.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { InvariantViolated } from "../schema/errors.ts"
import type { ProcessExit, ProcessIdentity, SignalName } from "../services/Os.ts"
import type { FakePipe } from "./fakePipe.ts"
import type { Habits, PipeName, Reaction } from "./habits.ts"

/** `agent`: and all that descends from it. `anchor`, `parent`: of the backend. `stranger`: of nobody that we know. */
export type Role = "agent" | "anchor" | "parent" | "stranger"

export interface FakeProcess {
  readonly identity: ProcessIdentity
  readonly role: Role
  /** The launch that it descends from, whatever its environment says. */
  readonly launch: string | undefined
  /** The foreign ledger that has its launch. */
  readonly ledger: string | undefined
  /** In its environment. */
  readonly marker: string | undefined
  /** Whose SIGKILL takes it. */
  readonly anchor: FakeProcess | undefined
  readonly habits: Habits
  readonly bornAtMs: number
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly state: "running" | "zombie" | "gone"
  readonly exit: ProcessExit | undefined
  readonly endedAtMs: number | undefined
  /** SIGKILL has reached it, or the anchor of its namespace. */
  readonly isKilled: boolean
}

export type FakePipes = Readonly<Record<PipeName, FakePipe<FakeProcess | "host">>>

interface Live extends FakeProcess {
  parent: number
  state: "running" | "zombie" | "gone"
  exit: ProcessExit | undefined
  endedAtMs: number | undefined
  isKilled: boolean
  /** An anchor that got SIGKILL: nothing is born any more, and it ends after all others. */
  isEnding: boolean
  isTermed: boolean
  readonly pipes: FakePipes | undefined
  readonly fibers: Array<Fiber.Fiber<unknown, unknown>>
  /** Instead of being waited for at once by its parent. */
  readonly onEnd: ((exit: ProcessExit) => void) | undefined
}

export interface Birth {
  readonly role: Role
  readonly launch?: string | undefined
  readonly ledger?: string | undefined
  readonly marker?: string | undefined
  readonly anchor?: FakeProcess | undefined
  readonly parent?: FakeProcess | undefined
  readonly pipes?: FakePipes | undefined
  readonly onEnd?: (exit: ProcessExit) => void
}

/** What the machine runs on; known once a run has begun. */
export interface Machine {
  readonly now: () => number
  readonly random: () => number
  readonly fork: (effect: Effect.Effect<unknown>) => Fiber.Fiber<unknown, unknown>
}

/** Numbers start here; those below belong to the system. */
const pidMin = 100
const init = 1

export class FakeProcesses {
  /** All that ever were, in the order of their births. */
  readonly all: Array<FakeProcess> = []
  private readonly byPid = new Map<number, Live>()
  private readonly pidsMax: number
  private strangers: number
  private lastPid = pidMin - 1
  machine: Machine = { now: () => 0, random: () => 0, fork: () => neverStarted() }

  /** The first number is anywhere in the circle. */
  start(machine: Machine): void {
    this.machine = machine
    this.lastPid = pidMin + Math.floor(machine.random() * this.pidsMax)
  }

  /** So many numbers; so many strangers that take a number when it becomes free. */
  constructor(pidsMax: number, strangers: number) {
    this.pidsMax = pidsMax
    this.strangers = strangers
  }

  /** Whoever runs under this number now. */
  find(pid: number): FakeProcess | undefined {
    const process = this.byPid.get(pid)
    return process?.state === "running" ? process : undefined
  }

  /** Numbers in use, ascending. */
  numbers(): ReadonlyArray<number> {
    return [...this.byPid.keys()].sort((one, other) => one - other)
  }

  /** A new process; `undefined`: nothing can be born there any more. */
  born(habits: Habits, birth: Birth): FakeProcess | undefined {
    if (birth.anchor !== undefined && this.isEnding(birth.anchor)) return undefined
    const pid = this.freePid()
    const parent = birth.parent?.state === "running" && habits.doubleForked !== true ? birth.parent : undefined
    const leads = habits.ownSession === true || parent === undefined || parent.role === "parent"
    const process: Live = {
      identity: { pid, startTime: String(this.all.length + 1), bootId: "boot", pidNamespace: "host" },
      role: birth.role,
      launch: birth.launch,
      ledger: birth.ledger,
      marker: habits.dropsMarker === true ? undefined : birth.marker,
      anchor: birth.anchor,
      habits,
      bornAtMs: this.machine.now(),
      parent: parent?.identity.pid ?? birth.anchor?.identity.pid ?? init,
      group: leads ? pid : parent.group,
      session: leads ? pid : parent.session,
      state: "running",
      exit: undefined,
      endedAtMs: undefined,
      isKilled: false,
      isEnding: false,
      isTermed: false,
      pipes: birth.pipes,
      fibers: [],
      onEnd: birth.onEnd
    }
    this.all.push(process)
    this.byPid.set(pid, process)
    for (const name of habits.holds ?? []) birth.pipes?.[name][name === "stdin" ? "readers" : "writers"].add(process)
    if (habits.onBirth !== undefined) this.react(process, habits.onBirth)
    if (habits.storm !== undefined) this.run(process, this.storm(process, habits.storm))
    if (habits.says !== undefined) this.run(process, says(process, habits.says))
    return process
  }

  /** Runs for as long as the process does. */
  run(process: FakeProcess, effect: Effect.Effect<unknown>): void {
    const live = this.live(process)
    if (live?.state === "running") live.fibers.push(this.machine.fork(effect))
  }

  react(process: FakeProcess, reaction: Reaction, exit: ProcessExit = { _tag: "Code", code: 0 }): void {
    const leave = () => {
      this.forkAll(process, reaction.forks ?? [])
      if (reaction.exitMs === undefined) return
      this.after(process, reaction.exitMs, () => this.end(process, reaction.exit ?? exit))
    }
    this.after(process, reaction.afterMs ?? 0, leave)
  }

  /** The process ends: its pipes are let go, its children are orphans, its number is free once it was waited for. */
  end(process: FakeProcess, exit: ProcessExit): void {
    const live = this.live(process)
    if (live?.state !== "running") return
    live.state = "zombie"
    live.exit = exit
    live.endedAtMs = this.machine.now()
    for (const pipe of Object.values(live.pipes ?? {})) pipe.drop(live)
    for (const fiber of live.fibers.splice(0)) fiber.interruptUnsafe()
    for (const child of this.byPid.values()) if (child.parent === live.identity.pid) this.orphan(child, live.anchor)
    if (live.onEnd !== undefined) live.onEnd(exit)
    else if (this.byPid.get(live.parent)?.habits.neverWaits !== true) this.waitFor(live)
    if (live.anchor !== undefined) this.endIfEmpty(live.anchor)
  }

  /** Its parent has taken its exit; the number is free, and perhaps somebody's already. */
  waitFor(process: FakeProcess): void {
    const live = this.live(process)
    if (live?.state !== "zombie") return
    live.state = "gone"
    this.byPid.delete(live.identity.pid)
    if (this.strangers === 0 || this.machine.random() < 0.5) return
    this.strangers--
    this.lastPid = live.identity.pid - 1
    this.born({}, { role: "stranger" })
  }

  /** What the kernel does with a signal for this process. */
  signal(process: FakeProcess, signal: SignalName): void {
    const live = this.live(process)
    if (live?.state !== "running") return
    if (live.role === "anchor") {
      if (signal === "SIGKILL") this.endNamespace(live)
    } else if (signal === "SIGKILL") this.kill(live)
    else if (!live.isTermed) {
      live.isTermed = true
      this.react(live, live.habits.onTerm ?? { exitMs: 0 }, { _tag: "Signal", signal, inferred: false })
    }
  }

  private kill(process: Live): void {
    if (process.state !== "running" || process.isKilled) return
    process.isKilled = true
    const { killMs = 0 } = process.habits
    const exit: ProcessExit = { _tag: "Signal", signal: "SIGKILL", inferred: false }
    if (killMs !== Infinity) this.after(process, killMs, () => this.end(process, exit))
  }

  private endNamespace(anchor: Live): void {
    anchor.isEnding = true
    for (const process of this.byPid.values()) if (process.anchor === anchor) this.kill(process)
    this.endIfEmpty(anchor)
  }

  private endIfEmpty(anchor: FakeProcess): void {
    if (!this.isEnding(anchor)) return
    for (const process of this.byPid.values()) if (process.anchor === anchor && process.state === "running") return
    this.end(anchor, { _tag: "Signal", signal: "SIGKILL", inferred: false })
  }

  private isEnding(anchor: FakeProcess): boolean {
    return this.live(anchor)?.isEnding ?? true
  }

  private orphan(child: Live, anchor: FakeProcess | undefined): void {
    child.parent = anchor?.identity.pid ?? init
    if (child.state === "zombie") this.waitFor(child)
    else if (child.habits.onOrphaned !== undefined) this.react(child, child.habits.onOrphaned)
  }

  private forkAll(process: FakeProcess, forks: ReadonlyArray<Habits>): void {
    const { anchor, launch, ledger, role } = process
    const { marker, pipes } = this.live(process) ?? { marker: undefined, pipes: undefined }
    for (const habits of forks) this.born(habits, { role, launch, ledger, marker, anchor, pipes, parent: process })
  }

  private storm(process: FakeProcess, { everyMs, most, of }: NonNullable<Habits["storm"]>) {
    const fork = Effect.sync(() => this.forkAll(process, [of]))
    const once = Effect.andThen(Effect.sleep(everyMs), fork)
    return Effect.forEach(Array.from({ length: most }), () => once, { discard: true })
  }

  private after(process: FakeProcess, delayMs: number, act: () => void): void {
    if (delayMs === 0) act()
    else this.run(process, Effect.andThen(Effect.sleep(delayMs), Effect.sync(act)))
  }

  private live(process: FakeProcess): Live | undefined {
    const live = this.byPid.get(process.identity.pid)
    return live?.identity === process.identity ? live : undefined
  }

  /** The next number that is free, in a circle. */
  private freePid(): number {
    for (let step = 0; step < this.pidsMax; step++) {
      const pid = pidMin + ((this.lastPid + 1 - pidMin + step) % this.pidsMax)
      if (this.byPid.has(pid)) continue
      this.lastPid = pid
      return pid
    }
    throw new InvariantViolated({ invariant: "fakeOs.pidsMax", detail: `all ${this.pidsMax} numbers are in use` })
  }
}

const says = (process: Live, words: NonNullable<Habits["says"]>) =>
  Effect.forEach(
    words,
    ({ afterMs, text, to }) => {
      const bytes = new TextEncoder().encode(text)
      return Effect.andThen(Effect.sleep(afterMs), Effect.ignore(process.pipes?.[to].write(bytes) ?? Effect.void))
    },
    { discard: true }
  )

const neverStarted = (): never => {
  throw new InvariantViolated({ invariant: "fakeOs.started", detail: "the layer was not built" })
}
