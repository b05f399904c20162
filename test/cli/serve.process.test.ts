import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { connectRunner } from "../../src/layers/transport/runnerConnection.ts"
import { connectWebSocket } from "../../src/layers/transport/webSocketClient.ts"
import { connectUnixSocket } from "../../src/layers/transport/unixSocket.ts"
import * as Ids from "../../src/services/Ids.ts"
import type { RunnerConnection } from "../../src/services/RunnerClient.ts"
import { endWorld, greenroom, makeWorld, type Running, start, until, type World } from "./greenroom.ts"
import { startOnTerminal } from "./terminal.ts"

let world: World
beforeEach(() => {
  world = makeWorld()
})
afterEach(() => expect(endWorld(world)).toEqual([]))

const state = () => join(world.folder, "s")

const serving = async (...args: ReadonlyArray<string>): Promise<Running> => {
  const running = start(world, ["serve", "--state", state(), ...args])
  await until("it serves", () => running.stdout().endsWith("\n") || running.child.exitCode !== null)
  return running
}

const ended = async (running: Running) => {
  running.child.kill("SIGTERM")
  return running.ended
}

const asController = <A, E>(work: (connection: RunnerConnection) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(
    connectUnixSocket(join(state(), "runner.sock")).pipe(
      Effect.flatMap((channel) => connectRunner(channel, { name: null, events: false })),
      Effect.provide(Ids.layer),
      Effect.flatMap(work),
      Effect.scoped
    )
  )

const asking = (connection: RunnerConnection) =>
  Effect.gen(function* () {
    yield* connection.command("run-1", "run.prepare", { provider: { kind: "bundled", cwd: world.workspace } })
    yield* connection.command("run-1", "session.open", {})
    yield* connection.command("run-1", "turn.start", { text: "run: echo served > served.txt" })
  })

const closing = (connection: RunnerConnection) => connection.command("run-1", "session.close", {})

describe("greenroom serve", { timeout: 120_000 }, () => {
  it("says where it listens, shows what it does, and leaves nothing when it is told to end", async () => {
    const running = await serving()
    expect(JSON.parse(running.stdout())).toMatchObject({ socket: join(state(), "runner.sock"), webSocket: null })
    await asController(asking)
    const { code, stdout } = await greenroom(world, ["ps", "--state", state()])
    expect(code).toBe(0)
    expect(stdout).toMatch(/run-1 {2}active, session running, bundled in /)
    expect(stdout).toMatch(/\d+ {2}bundled of run-1, (namespace|marked)/)
    expect(stdout).toMatch(/session:\S+ {2}running/)
    const listed = await greenroom(world, ["ps", "--state", state(), "--json"])
    expect(JSON.parse(listed.stdout)).toMatchObject({ runnerState: "ready", runs: [{ runId: "run-1" }] })
    expect(await ended(running)).toMatchObject({ code: 0, stderr: expect.stringContaining("because of SIGTERM") })
  })

  it("is alone in its folder", async () => {
    const running = await serving()
    const second = await greenroom(world, ["serve", "--state", state()])
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining("another runner uses") })
    await ended(running)
  })

  it("refuses a socket whose path is too long, and names the limit", async () => {
    const { code, stderr } = await greenroom(world, [
      "serve",
      "--state",
      state(),
      "--socket",
      `/tmp/${"x".repeat(120)}`
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(/path_too_long.*the limit is 10[37]/)
  })

  it("over the standard streams ends with its stdin, and has only frames on stdout", async () => {
    const { code, stdout } = await greenroom(world, ["serve", "--state", state(), "--stdio"], { input: "{}\n" })
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
    ).toEqual([
      expect.objectContaining({ kind: "error", payload: expect.objectContaining({ code: "schema_validation" }) })
    ])
  })

  it("lets the bearer of a token reach the runs of its company over a WebSocket, and tells its health to all", async () => {
    const running = await serving("--listen", "0")
    const { webSocket }: { readonly webSocket: string } = JSON.parse(running.stdout())
    const health = await fetch(new URL("/health", webSocket.replace("ws:", "http:")))
    expect(await health.json()).toMatchObject({ runnerState: "ready", version: expect.any(String) })
    const { stdout } = await greenroom(world, ["token", "mint", "--company", "acme", "--state", state()])
    await asController(asking)
    const asTenant = (token: string) =>
      Effect.runPromise(
        connectWebSocket(webSocket, token).pipe(
          Effect.flatMap((channel) => connectRunner(channel, { name: null, events: false })),
          Effect.provide(Ids.layer),
          Effect.flatMap((connection) =>
            Effect.gen(function* () {
              const own = { provider: { kind: "bundled", cwd: world.workspace } }
              yield* connection.command("run-2", "run.prepare", own)
              const foreign = yield* connection.command("run-1", "session.snapshot", {})
              const seen = yield* connection.command("run-2", "session.snapshot", {})
              return [connection.welcome.runs.length, foreign.code, seen.status]
            })
          ),
          Effect.scoped
        )
      )
    expect(await asTenant(stdout.trim())).toEqual([0, "run_unknown", "completed"])
    await expect(asTenant("nobody.nothing")).rejects.toMatchObject({ reason: "unauthorized" })
    await ended(running)
  })

  it("is missed with a hint", async () => {
    for (const args of [["ps"], ["attach"]]) {
      const { code, stderr } = await greenroom(world, [...args, "--state", state()])
      expect(code).toBe(1)
      expect(stderr).toContain("start one with `greenroom serve`")
    }
  })
})

describe("greenroom attach", { timeout: 120_000 }, () => {
  it("shows what the agent asked before it came, answers it with a key, and follows the run to its end", async () => {
    const running = await serving()
    await asController(asking)
    const terminal = startOnTerminal(world, ["attach", "--state", state()])
    await until("the question is shown", () => terminal.screen().includes("The agent asks for permission"))
    expect(terminal.screen()).toContain("echo served > served.txt")
    let looks = 0
    await until("the question is answered", () => {
      if (looks++ % 20 === 0) terminal.press("y")
      return terminal.screen().includes("allowed by you") || terminal.screen().includes("answered")
    })
    await until("the turn is over", () => terminal.screen().includes("I ran"))
    await asController(closing)
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).toContain("the run is over")
    expect(readFileSync(join(world.workspace, "served.txt"), "utf8")).toBe("served\n")
    await ended(running)
  })

  it("detaches on Ctrl-C, and the run does not notice", async () => {
    const running = await serving()
    await asController(asking)
    const terminal = startOnTerminal(world, ["attach", "run-1", "--state", state()])
    await until("the question is shown", () => terminal.screen().includes("The agent asks for permission"))
    terminal.press("\u0003")
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).toContain("detached, the run goes on")
    expect(await asController(({ welcome }) => Effect.succeed(welcome.runs))).toMatchObject([
      { runId: "run-1", openRequests: [expect.any(String)] }
    ])
    await ended(running)
  })

  it("shows a run that has ended, and waits for none that there is not", async () => {
    const running = await serving()
    const none = () => greenroom(world, ["attach", "nobody", "--state", state()])
    expect(await none()).toMatchObject({ code: 2, stderr: expect.stringContaining("no run nobody is under way") })
    await asController(asking)
    await asController(closing)
    const { code, stderr } = await greenroom(world, ["attach", "run-1", "--state", state()])
    expect([code, stderr]).toEqual([0, expect.stringContaining("the run is over")])
    expect(await none()).toMatchObject({ code: 2, stderr: expect.stringContaining("no run nobody is under way") })
    await ended(running)
  })

  it("with --json gives the events of the run as JSON Lines", async () => {
    const running = await serving()
    await asController(asking)
    const attached = start(world, ["attach", "--state", state(), "--json"])
    await until("the request is told", () => attached.stdout().includes("runtime_request.created"))
    await asController(closing)
    const { code, stdout } = await attached.ended
    expect(code).toBe(0)
    const types = stdout
      .trimEnd()
      .split("\n")
      .map((line) => String(JSON.parse(line).eventType))
    expect(types[0]).toBe("runtime.phase.changed")
    expect(types.at(-1)).toBe("run.terminal")
    await ended(running)
  })
})

describe("greenroom token", { timeout: 60_000 }, () => {
  it("makes one that is shown once, lists it without its secret, and revokes it", async () => {
    const minted = await greenroom(world, ["token", "mint", "--company", "acme", "--ttl", "5m", "--state", state()])
    expect(minted.code).toBe(0)
    const [id, secret] = minted.stdout.trim().split(".")
    const listed = await greenroom(world, ["token", "list", "--state", state()])
    expect(listed.stdout).toMatch(new RegExp(`^${id} {2}acme {2}all runs {2}good until `))
    expect(listed.stdout).not.toContain(secret)
    expect((await greenroom(world, ["token", "revoke", id ?? "", "--state", state()])).code).toBe(0)
    expect((await greenroom(world, ["token", "list", "--state", state()])).stdout).toBe("")
    expect((await greenroom(world, ["token", "revoke", id ?? "", "--state", state()])).code).toBe(1)
    const refused = await greenroom(world, ["token", "mint", "--company", "a b", "--state", state()])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--company") })
  })
})
