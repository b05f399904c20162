import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import { afterAll, describe, expect, it } from "vitest"
import { parseLedger } from "../../src/layers/process/ledgerFile.ts"
import { pidNamespace } from "../../src/layers/process/procfs.ts"
import { LaunchFailed, LedgerUnwritable, StdinClosed } from "../../src/schema/errors.ts"
import { limits } from "../../src/schema/limits.ts"
import { type AgentLink, AgentLinks, type Launch } from "../../src/services/AgentLink.ts"
import { Os } from "../../src/services/Os.ts"
import { backends } from "./cells.ts"
import { linksLayer, open, readAll, readUntil, runWithLinks } from "./links.ts"
import { probedBackends } from "./matrix.ts"
import { clearTagged, freshTag, lookAround, sendKill, tagged, waitUntil } from "./processes.ts"
import { makeFolder, startHost } from "./startHost.ts"

const folder = makeFolder()
const workFolder = makeFolder()
const probes = await probedBackends()
afterAll(() => {
  for (const made of [folder, workFolder]) fs.rmSync(made, { recursive: true, force: true })
})

const PATH = process.env["PATH"] ?? "/usr/bin:/bin"
const bytes = (text: string) => new TextEncoder().encode(text)
const until = (condition: () => boolean) =>
  Effect.promise(async () => expect(await waitUntil(condition), condition.toString()).toBe(true))

const usable = backends.filter((backend) => probes.some((one) => one.backend === backend && one.usable))

describe.each(usable)("an owned link under %s", (backend) => {
  const sh = (text: string, more: Partial<Launch> = {}): Launch => ({
    command: "sh",
    args: ["-c", text],
    env: { PATH },
    cwd: "/",
    backend,
    graces: { eofMs: 200, termMs: 500, killMs: 5_000 },
    ...more
  })
  const runtime = ManagedRuntime.make(linksLayer(folder))
  const run = <A, E>(effect: Effect.Effect<A, E, AgentLinks | Os | Scope.Scope>) =>
    runtime.runPromise(Effect.scoped(effect))

  it("passes text to the agent and back, and ends with the end of input", async () => {
    const [text, report] = await run(
      Effect.gen(function* () {
        const link = yield* open(sh("exec cat"))
        yield* link.write(bytes("hello\n"))
        const piece = yield* link.pull
        return [new TextDecoder().decode(piece), yield* link.close] as const
      })
    )
    expect(text).toBe("hello\n")
    expect(report).toMatchObject({ exit: { _tag: "Code", code: 0 }, steps: ["eof"], processesSeen: 1, survivors: [] })
    expect(report.proof).toBe(backend === "namespace" ? "namespace" : "marker")
  })

  it("tells the exit code", async () => {
    expect(await run(Effect.flatMap(open(sh("exit 3")), (link) => link.exit))).toEqual({ _tag: "Code", code: 3 })
  })

  it("tells the signal that ended the agent, and whether that is certain", async () => {
    const exit = await run(Effect.flatMap(open(sh("kill -KILL $$")), (link) => link.exit))
    expect(exit).toEqual({ _tag: "Signal", signal: "SIGKILL", inferred: backend === "namespace" })
  })

  it("gives the agent exactly its environment, its folder and a session of its own", async () => {
    const env = { PATH, ONE: "1 2", TWO: "a\nb", EMPTY: "", PWD: "/elsewhere" }
    const launched = await run(
      Effect.gen(function* () {
        const script = `
          const pid = process.pid, stat = require("fs").readFileSync("/proc/self/stat", "utf8").split(" ")
          console.log(JSON.stringify({ env: process.env, cwd: process.cwd(), leads: stat[5] === String(pid), uid: process.getuid() }))`
        return JSON.parse(
          yield* readAll(yield* open(sh("", { command: process.execPath, args: ["-e", script], env, cwd: folder })))
        )
      })
    )
    expect(launched.env).toEqual({ ...env, PWD: expect.any(String), GREENROOM_LAUNCH: expect.any(String) })
    expect(launched).toMatchObject({ cwd: fs.realpathSync(folder), leads: true, uid: process.getuid?.() })
  })

  it("adds no variable of a shell to the environment", async () => {
    const env = { PATH, ONLY: "1" }
    const script = "console.log(Object.keys(process.env).sort().join())"
    const names = await run(
      Effect.flatMap(open(sh("", { command: process.execPath, args: ["-e", script], env })), readAll)
    )
    expect(names.trim()).toBe("GREENROOM_LAUNCH,ONLY,PATH")
  })

  it.each<[string, Partial<Launch>, string]>([
    ["a command that is not there", { command: "no-such-command" }, "not found"],
    ["a path that is not there", { command: "/no/such/command" }, "not found"],
    ["a file that is not executable", { command: "/etc/passwd" }, "not executable"],
    ["a folder", { command: "/etc" }, "not found"],
    ["a working directory that is not there", { cwd: "/no/such/folder" }, "working directory"],
    ["a script without its interpreter", { command: "SCRIPT /no/such/interpreter" }, "interpreter"],
    ["a script whose interpreter is not on the path", { command: "SCRIPT /usr/bin/env nonesuch" }, "nonesuch"]
  ])("does not launch %s", async (_, more, reason) => {
    const launch = sh("exit 0", more)
    const command = launch.command.startsWith("SCRIPT ")
      ? script(launch.command.slice("SCRIPT ".length))
      : launch.command
    const failure = await run(Effect.flip(open({ ...launch, command })))
    expect(failure).toBeInstanceOf(LaunchFailed)
    expect(failure).toMatchObject({ command, reason: expect.stringContaining(reason) })
    expect(begunLaunches()).toEqual([])
  })

  it("starts nothing that it could not write down", async () => {
    const tag = freshTag()
    const file = path.join(workFolder, "a-file")
    fs.writeFileSync(file, "")
    const failing = Effect.provide(Effect.scoped(Effect.flip(open(sh(`exec sleep ${tag}`)))), linksLayer(file))
    expect(await Effect.runPromise(failing)).toBeInstanceOf(LedgerUnwritable)
    expect(tagged(tag)).toEqual([])
  })

  it("says at once that the agent closed its input while its output is open", async () => {
    const failure = await run(
      Effect.gen(function* () {
        const link = yield* open(sh("exec <&-; echo closed; exec sleep 1000"))
        yield* readUntil(link, "closed")
        return yield* Effect.flip(Effect.forever(link.write(bytes("x".repeat(1000)))))
      })
    )
    expect(failure).toBeInstanceOf(StdinClosed)
  })

  it("sees the end of output of an agent that lives on", async () => {
    await run(
      Effect.gen(function* () {
        const link = yield* open(sh("exec >&-; exec sleep 1000"))
        expect(yield* link.pull).toBeUndefined()
        expect((yield* link.kill).steps).toEqual(["SIGKILL"])
      })
    )
  })

  it("ends the output of an agent that has exited although a grandchild holds the pipe", async () => {
    const tag = freshTag()
    await run(
      Effect.gen(function* () {
        const link = yield* open(sh(`echo said; sleep ${tag} & exit 0`, { graces: { eofMs: 10, termMs: 500 } }))
        expect(yield* readAll(link)).toBe("said\n")
        expect((yield* link.close).survivors).toEqual([])
      })
    )
    expect(tagged(tag)).toEqual([])
  })

  it("loses nothing that was written before the exit to a consumer that comes late", async () => {
    const text = await run(
      Effect.gen(function* () {
        const link = yield* open(sh("head -c 60000 /dev/zero | tr '\\0' x; exit 0"))
        yield* link.exit
        yield* Effect.sleep(3 * limits.drainAfterExitMs)
        return yield* readAll(link)
      })
    )
    expect(text.length).toBe(60_000)
  })

  it("lets the agent feel a consumer that does not pull", async () => {
    const blocks = await run(
      Effect.gen(function* () {
        const link = yield* open(sh('n=0; while :; do head -c 65536 /dev/zero; n=$((n+1)); echo "$n" >&2; done'))
        const last = () => Number(link.stderrTail().at(-1) ?? 0)
        let stable = 0
        let before = 0
        yield* until(() => {
          stable = last() === before && before > 0 ? stable + 1 : 0
          before = last()
          return stable === 20 || before > 100
        })
        return before
      })
    )
    // 64 KiB of ours, and what the kernel holds.
    expect(blocks).toBeLessThan(32)
  })

  it("drains stderr from birth", async () => {
    await run(
      Effect.gen(function* () {
        const env = { PATH, API_TOKEN: "hidden-value-1" }
        const link = yield* open(
          sh('head -c 1048576 /dev/zero | tr "\\0" e >&2; echo >&2; echo "end $API_TOKEN" >&2; echo ready', { env })
        )
        expect(yield* readUntil(link, "ready")).toBe(true)
        yield* until(() => link.stderrTail().at(-1)?.includes("end") ?? false)
        expect(link.stderrTail().join("\n")).not.toContain("hidden-value-1")
      })
    )
  })

  it("loses no byte to a pull that is interrupted", async () => {
    const text = await run(
      Effect.gen(function* () {
        const link = yield* open(sh("exec cat"))
        for (let count = 0; count < 20; count++) {
          const pull = yield* Effect.forkChild(link.pull)
          yield* Effect.yieldNow
          yield* Fiber.interrupt(pull)
        }
        yield* link.write(bytes("all of it"))
        yield* link.end
        return yield* readAll(link)
      })
    )
    expect(text).toBe("all of it")
  })

  it("goes on closing when the one who asked goes away, and gives everybody the same report", async () => {
    const tag = freshTag()
    const [first, second] = await run(
      Effect.gen(function* () {
        const link = yield* open(
          sh(`trap '' TERM; echo up; while :; do sleep ${tag}; done`, { graces: { eofMs: 50, termMs: 50 } })
        )
        yield* readUntil(link, "up")
        const asking = yield* Effect.forkChild(link.close)
        yield* Effect.yieldNow
        yield* Fiber.interrupt(asking)
        yield* until(() => tagged(tag).length === 0)
        return [yield* link.close, yield* link.kill] as const
      })
    )
    expect(first).toBe(second)
    expect(first).toMatchObject({ steps: ["eof", "SIGTERM", "SIGKILL"], survivors: [] })
  })

  it("kills in the middle of a grace", async () => {
    const report = await run(
      Effect.gen(function* () {
        const link = yield* open(sh("cat; echo ended; exec sleep 100000", { graces: { eofMs: 600_000 } }))
        const closing = yield* Effect.forkChild(link.close)
        expect(yield* readUntil(link, "ended")).toBe(true)
        yield* link.kill
        return yield* Fiber.join(closing)
      })
    )
    expect(report.steps).toEqual(["eof", "SIGKILL"])
  })

  it("is not stuck when it closes an agent whose output nobody takes", async () => {
    const report = await run(Effect.flatMap(open(sh("yes; :")), (link) => link.close))
    expect(report.survivors).toEqual([])
  })

  it("leaves nothing of an open that is interrupted", async () => {
    const tag = freshTag()
    await run(
      Effect.gen(function* () {
        for (let yields = 0; yields < 6; yields++) {
          const opening = yield* Effect.forkChild(
            Effect.scoped(Effect.andThen(open(sh(`exec sleep ${tag}`)), Effect.never))
          )
          for (let count = 0; count < yields; count++) yield* Effect.yieldNow
          yield* Fiber.interrupt(opening)
          expect(tagged(tag)).toEqual([])
        }
      })
    )
  })

  it("ends with the layer when nobody closed it", async () => {
    const tag = freshTag()
    const outer = Scope.makeUnsafe()
    await Effect.runPromise(
      Effect.gen(function* () {
        const layer = yield* Scope.make()
        const services = yield* Layer.buildWithScope(linksLayer(folder), layer)
        const link = yield* Effect.provideContext(Scope.provide(open(sh(`exec sleep ${tag}`)), outer), services)
        yield* until(() => tagged(tag).length > 0)
        yield* Scope.close(layer, Exit.void)
        expect(tagged(tag)).toEqual([])
        expect((yield* link.close).survivors).toEqual([])
      })
    )
    await Effect.runPromise(Scope.close(outer, Exit.void))
  })

  it("installs no handler in the host", async () => {
    const events = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "uncaughtException", "beforeExit"] as const
    const counts = () => events.map((event) => process.listenerCount(event))
    const before = counts()
    const during = await run(Effect.map(open(sh("exec cat")), counts))
    expect(during).toEqual(before)
  })

  it("never signals a number that is another process by now", async () => {
    await run(
      Effect.gen(function* () {
        const os = yield* Os
        const link = yield* open(sh("exec cat"))
        const agent = yield* agentOf(os, link)
        expect(yield* os.signal({ ...agent, startTime: String(Number(agent.startTime) + 1) }, "SIGKILL")).toBe(false)
        expect(yield* os.signal({ ...agent, bootId: "another" }, "SIGKILL")).toBe(false)
        expect(yield* os.signal({ ...agent, pidNamespace: "1" }, "SIGKILL")).toBe(false)
        expect(yield* os.readIdentity(agent.pid)).toEqual(agent)
        expect(yield* os.signal(agent, "SIGKILL")).toBe(true)
        expect((yield* link.exit)._tag).toBe("Signal")
        expect(yield* os.signal(agent, "SIGKILL")).toBe(false)
      })
    )
  })

  it("is found from outside when its agent is a host itself", async () => {
    const tag = freshTag()
    const inner = { ledgerFolder: workFolder, launches: [sh(`exec sleep ${tag}`, { backend: "marked" })] }
    const args = [path.join(import.meta.dirname, "host.ts"), JSON.stringify(inner)]
    const report = await run(
      Effect.gen(function* () {
        const link = yield* open(sh("", { command: process.execPath, args, env: { PATH, HOME: workFolder } }))
        yield* readUntil(link, "opened")
        yield* until(() => tagged(tag).length > 0)
        return yield* link.kill
      })
    )
    expect(tagged(tag)).toEqual([])
    expect(report.survivors).toEqual([])
    // The host, its guardian and its agent.
    expect(report.processesSeen).toBeGreaterThanOrEqual(3)
  })

  it("serves many at once", async () => {
    const exits = await run(
      Effect.forEach(
        Array.from({ length: 16 }, (_, code) => code),
        (code) => Effect.scoped(Effect.flatMap(open(sh(`exit ${code}`)), (link) => link.exit)),
        { concurrency: "unbounded" }
      )
    )
    expect(exits.map((exit) => (exit._tag === "Code" ? exit.code : -1))).toEqual(exits.map((_, code) => code))
  })

  it("leaves no ledger behind", async () => {
    expect(begunLaunches()).toEqual([])
    await runtime.dispose()
    expect(fs.readdirSync(folder)).toEqual([])
  })
})

describe.runIf(usable.includes("namespace"))("an anchor", () => {
  const launch = (text: string): Launch => ({
    command: "sh",
    args: ["-c", text],
    env: { PATH },
    cwd: "/",
    backend: "namespace"
  })

  it("takes away the zombies that it inherits", async () => {
    const text = "( sleep 0 & ); while ps -eo stat= | grep -q Z; do :; done; echo none; cat"
    await runWithLinks(
      folder,
      Effect.gen(function* () {
        const link = yield* open(launch(text))
        expect(yield* readUntil(link, "none")).toBe(true)
      })
    )
  })

  it("may be gone, and a later one have the number of its namespace: that launch is let alone", async () => {
    const numberOf = (link: AgentLink) => pidNamespace(link.identity?.pid ?? 0)
    await runWithLinks(
      folder,
      Effect.gen(function* () {
        const os = yield* Os
        const first = yield* open(launch("exec cat"))
        const number = numberOf(first)
        yield* first.write(bytes("up"))
        expect(yield* readUntil(first, "up")).toBe(true)
        if (first.identity !== undefined) yield* os.signal(first.identity, "SIGKILL")
        yield* first.exit
        const others = [yield* open(launch("exec cat"))]
        while (others.length < 30 && !others.some((other) => numberOf(other) === number))
          others.push(yield* open(launch("exec cat")))
        expect((yield* first.close).survivors).toEqual([])
        for (const other of others) {
          yield* other.write(bytes("alive"))
          expect(yield* readUntil(other, "alive")).toBe(true)
        }
      })
    )
  })

  it("outlives an agent that kills everything it can", async () => {
    await runWithLinks(
      folder,
      Effect.gen(function* () {
        const link = yield* open(launch("kill -KILL -1; kill -KILL 1; echo still here; cat"))
        expect(yield* readUntil(link, "still here")).toBe(true)
        yield* link.write(bytes("and well\n"))
        expect(yield* readUntil(link, "and well")).toBe(true)
        expect(yield* link.close).toMatchObject({ steps: ["eof"], survivors: [] })
      })
    )
  })
})

describe("a guardian", () => {
  it("is replaced when it dies, and the new one knows every marker", async () => {
    const tag = freshTag()
    const ledgerFolder = makeFolder()
    const guardianOf = (host: number) =>
      lookAround().find(({ command, parent }) => parent === host && command.endsWith(" greenroom-guardian"))
    const host = await startHost({
      ledgerFolder,
      launches: [{ command: "sleep", args: [tag], env: { PATH }, cwd: "/", backend: "marked" }]
    })
    const first = guardianOf(host.pid)
    sendKill(first?.pid ?? 0)
    expect(await waitUntil(() => ![undefined, first?.pid].includes(guardianOf(host.pid)?.pid))).toBe(true)
    host.signal("SIGKILL")
    await host.exited
    expect(await waitUntil(() => tagged(tag).length === 0)).toBe(true)
    clearTagged(tag)
    fs.rmSync(ledgerFolder, { recursive: true, force: true })
  })
})

/** What the ledgers in the folder say is not over. */
const begunLaunches = () =>
  fs.readdirSync(folder).flatMap((name) => {
    const parsed = parseLedger(fs.readFileSync(path.join(folder, name, "launches.ndjson"), "utf8"))
    return parsed?.entries ?? []
  })

/** The agent itself, also where the identity of the link is that of its anchor. */
const agentOf = (os: Os["Service"], link: AgentLink) => {
  const isAgent = (pid: number | undefined) =>
    lookAround()
      .find((one) => one.pid === pid)
      ?.command.endsWith("cat") ?? false
  const parents = () => lookAround().filter(({ command }) => / greenroom-parent /.test(command))
  const agent = () => {
    if (link.backend === "marked") return link.identity?.pid
    const pids = parents().map(({ pid }) => pid)
    return lookAround().find(({ command, parent }) => pids.includes(parent) && command === "cat")?.pid
  }
  return Effect.gen(function* () {
    yield* until(() => isAgent(agent()))
    return (yield* os.readIdentity(agent() ?? 0)) ?? (yield* Effect.die("the agent was not found"))
  })
}

const script = (interpreter: string): string => {
  const file = path.join(workFolder, `script-${freshTag()}.sh`)
  fs.writeFileSync(file, `#!${interpreter}\n`, { mode: 0o755 })
  return file
}
