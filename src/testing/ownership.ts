/** What must hold of owned processes after a run over a fake operating system, as data. */
import type { CleanupReport } from "../services/AgentLink.ts"
import type { Graces } from "../services/ladder.ts"
import type { ProcessIdentity } from "../services/Os.ts"
import type { FakeLaunched } from "./fakeLaunches.ts"
import type { FakeOs } from "./FakeOs.ts"
import type { FakeProcess } from "./fakeProcesses.ts"

/** A link that was opened, and what its end reported, if that was heard. */
export interface LinkEnd {
  readonly identity: ProcessIdentity | undefined
  readonly graces: Graces
  /** `kill` was asked for. */
  readonly isHurried: boolean
  readonly report: CleanupReport | undefined
}

export interface OwnershipInvariant {
  readonly name: string
  /** What breaks it once every link was closed, or its scope and its layer were. */
  readonly violations: (os: FakeOs, links: ReadonlyArray<LinkEnd>) => ReadonlyArray<string>
}

const nameOf = ({ pid, startTime }: ProcessIdentity) => `${pid}:${startTime}`

const endOf = (launch: FakeLaunched, links: ReadonlyArray<LinkEnd>) =>
  links.find(({ identity }) => identity !== undefined && nameOf(identity) === nameOf(launch.main.identity))

const processesOf = (os: FakeOs, launch: FakeLaunched) =>
  os.processes.filter((process) => process.launch === launch.marker)

/** What the backend can see of a launch and is alive, but for the backend's own. */
const visibleOf = (os: FakeOs, launch: FakeLaunched): ReadonlyArray<FakeProcess> =>
  processesOf(os, launch).filter(
    (process) => process.state === "running" && process.role !== "parent" && os.isVisible(process)
  )

/** A rule for each launch whose end was reported. */
const ofReports =
  (rule: (report: CleanupReport, launch: FakeLaunched, os: FakeOs, end: LinkEnd) => ReadonlyArray<string>) =>
  (os: FakeOs, links: ReadonlyArray<LinkEnd>) =>
    os.launches.flatMap((launch) => {
      const end = endOf(launch, links)
      return end?.report === undefined ? [] : rule(end.report, launch, os, end)
    })

const signalsTo = (os: FakeOs, launch: FakeLaunched, signal: string) =>
  os.signals.filter((sent) => sent.signal === signal && sent.hit?.launch === launch.marker)

const order: ReadonlyArray<string> = ["eof", "SIGTERM", "SIGKILL"]

export const ownershipInvariants: ReadonlyArray<OwnershipInvariant> = [
  {
    name: "no signal hits a process that is not of a launch of ours",
    violations: ({ isOurs, signals }) =>
      signals.flatMap(({ hit, meant, signal }) => {
        if (hit === undefined) return []
        if (!isOurs(hit)) return [`${signal} hit ${nameOf(hit.identity)}, a ${hit.role} that is not ours`]
        return nameOf(hit.identity) === nameOf(meant)
          ? []
          : [`${signal} for ${nameOf(meant)} hit ${nameOf(hit.identity)}`]
      })
  },
  {
    name: "whatever the backend sees of a launch has ended or is named as a survivor",
    violations: (os, links) =>
      os.launches.flatMap((launch) => {
        const report = endOf(launch, links)?.report
        // A report that nobody heard: the ledger says for it that the launch is not proven gone.
        if (report === undefined && os.ledger().own.includes(launch.marker)) return []
        const named = new Set(report?.survivors.map(nameOf))
        // A survivor may go on forking.
        const bornUntilMs = named.size === 0 ? Infinity : launch.lookedAtMs()
        return visibleOf(os, launch)
          .filter(({ bornAtMs, identity }) => !named.has(nameOf(identity)) && bornAtMs < bornUntilMs)
          .map(({ identity }) => `${nameOf(identity)} of ${launch.backend} lives on`)
      })
  },
  {
    name: "who is named as a survivor is of the launch, and the last look showed it",
    violations: ofReports(({ survivors }, launch, os) =>
      survivors.flatMap((survivor) => {
        const process = processesOf(os, launch).find(({ identity }) => nameOf(identity) === nameOf(survivor))
        if (process === undefined) return [`${nameOf(survivor)} is not of the launch`]
        const { endedAtMs } = process
        const hadEnded = process !== launch.main && endedAtMs !== undefined && endedAtMs < launch.lookedAtMs()
        return hadEnded ? [`${nameOf(survivor)} had ended`] : []
      })
    )
  },
  {
    name: "the helpers of a launch do not outlive its agent",
    violations: (os) =>
      os.launches.flatMap((launch) =>
        launch.agentProcess.state === "running"
          ? []
          : processesOf(os, launch)
              .filter(({ role, state }) => role === "parent" && state === "running")
              .map(({ identity }) => `the helper ${nameOf(identity)} is left`)
      )
  },
  {
    name: "every pipe is closed",
    violations: ({ launches }) =>
      launches.flatMap((launch) => launch.openPipes().map((pipe) => `${pipe} of ${launch.backend} is open`))
  },
  {
    name: "the steps of a ladder come in order, each after its grace",
    violations: ofReports(({ steps }, launch, os, { graces, isHurried }) => {
      const found: Array<string> = []
      if (steps.join() !== order.filter((step) => steps.some((taken) => taken === step)).join())
        found.push(`steps ${steps.join()}`)
      const eofAtMs = launch.eofAtMs()
      if (steps.includes("SIGTERM") && !steps.includes("eof")) found.push("SIGTERM without the end of input")
      if (eofAtMs === undefined || isHurried || !steps.includes("eof")) return found
      const term = signalsTo(os, launch, "SIGTERM")[0]
      // When all others have ended, what is left is the backend's own.
      const kill = signalsTo(os, launch, "SIGKILL").find(({ atMs }) =>
        processesOf(os, launch).some(({ endedAtMs, role }) => role === "agent" && (endedAtMs ?? Infinity) >= atMs)
      )
      if (term !== undefined && term.atMs < eofAtMs + graces.eofMs) found.push("SIGTERM within the grace of the input")
      if (kill !== undefined && kill.atMs < eofAtMs + graces.eofMs + graces.termMs)
        found.push("SIGKILL within the grace of SIGTERM")
      return found
    })
  },
  {
    name: "a report has the steps that were taken",
    violations: ofReports(({ steps }, launch, os) => {
      const found = (["SIGTERM", "SIGKILL"] as const)
        .filter(
          (signal) => !steps.includes(signal) && signalsTo(os, launch, signal).some(({ hit }) => hit !== undefined)
        )
        .map((signal) => `${signal} was sent and is not reported`)
      const killed = processesOf(os, launch).filter(({ isKilled, role }) => isKilled && role === "agent")
      if (!steps.includes("SIGKILL"))
        found.push(...killed.map(({ identity }) => `${nameOf(identity)} was killed unreported`))
      return found
    })
  },
  {
    name: "a reported exit is that of the agent",
    violations: ofReports(({ exit }, { agentProcess }) => {
      if (exit._tag === "Unknown") return []
      const own = agentProcess.exit
      const isSame =
        (exit._tag === "Code" && own?._tag === "Code" && own.code === exit.code) ||
        (exit._tag === "Signal" && own?._tag === "Signal" && own.signal === exit.signal)
      return isSame ? [] : [`the exit ${JSON.stringify(exit)} is reported for ${JSON.stringify(own)}`]
    })
  },
  {
    name: "a launch is in the ledger from before its start until it is proven gone",
    violations: (os, links) =>
      os.launches.flatMap((launch) => {
        if (!launch.wasInLedger) return [`${launch.backend} was started without an entry`]
        const report = endOf(launch, links)?.report
        const isAlive = visibleOf(os, launch).length > 0
        const isKept = os.ledger().own.includes(launch.marker)
        if (isAlive && !isKept) return ["a launch that lives is not in the ledger"]
        return isKept && report?.survivors.length === 0 ? ["a launch that is proven gone is in the ledger"] : []
      })
  },
  {
    name: "what the ledger holds was launched",
    violations: ({ launches, ledger }) =>
      ledger()
        .own.filter((marker) => launches.every((launch) => launch.marker !== marker))
        .map((marker) => `${marker} is in the ledger, and nothing was started`)
  },
  {
    name: "a launch is in the ledger of a gone host as long as anything of it lives",
    violations: (os) =>
      os.processes
        .filter((process) => process.state === "running" && process.marker !== undefined && os.isOurs(process))
        .filter(({ ledger }) => ledger !== undefined && !os.ledger().foreign.includes(ledger))
        .map(({ identity }) => `${nameOf(identity)} lives and its ledger is gone`)
  }
]

/** What breaks an invariant, with its name. */
export const ownershipViolations = (os: FakeOs, links: ReadonlyArray<LinkEnd>): ReadonlyArray<string> =>
  ownershipInvariants.flatMap(({ name, violations }) => violations(os, links).map((what) => `${name}: ${what}`))
