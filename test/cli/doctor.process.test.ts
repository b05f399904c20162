import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { endWorld, greenroom, ledgersOf, makeWorld, type Running, start, until, type World } from "./greenroom.ts"

let world: World
beforeEach(() => {
  world = makeWorld()
})
afterEach(() => expect(endWorld(world)).toEqual([]))

const homesFolder = () => join(world.folder, "home", ".cache", "greenroom", "homes")

const homes = (): ReadonlyArray<string> =>
  existsSync(homesFolder()) ? readdirSync(homesFolder()).map((name) => join(homesFolder(), name)) : []

/** A host in the middle of a turn, and the private home of its agent. */
const startHost = async (): Promise<{ readonly running: Running; readonly home: string }> => {
  const before = homes()
  const running = start(world, ["run", "--home", "private", "wait"])
  await until("the agent waits", () => running.stdout().includes("waiting"))
  const [home, ...others] = homes().filter((one) => !before.includes(one))
  if (home === undefined || others.length > 0) throw new Error("a host has one private home")
  return { running, home }
}

const kill = async ({ running }: { readonly running: Running }): Promise<void> => {
  running.child.kill("SIGKILL")
  await running.ended
}

const cancel = async ({ running }: { readonly running: Running }): Promise<void> => {
  running.child.kill("SIGINT")
  await running.ended
}

describe("the private home of a killed host's agent", { timeout: 60_000 }, () => {
  it("is named by the doctor and deleted when it reaps, and nobody else's is", async () => {
    const live = await startHost()
    const dead = await startHost()
    const strangers = join(homesFolder(), "of-nobody")
    mkdirSync(strangers)
    await kill(dead)

    const looked = await greenroom(world, ["doctor"])
    expect(looked.code).toBe(5)
    expect(looked.stdout).toContain(`home       ${dead.home}: left by host ${dead.running.child.pid}\n`)
    expect(looked.stdout).not.toContain(live.home)
    expect(homes()).toContain(dead.home)

    const reaped = await greenroom(world, ["doctor", "--reap", "--json"])
    expect(reaped.code).toBe(0)
    const report = JSON.parse(reaped.stdout)
    expect(report.hosts.find(({ gone }: { gone: boolean }) => gone).homes).toEqual([dead.home])
    expect(report.reaped).toMatchObject([{ ledger: { homes: [dead.home] }, survivors: [], keptHomes: [] }])
    expect(homes().toSorted()).toEqual([live.home, strangers].toSorted())

    expect((await greenroom(world, ["doctor"])).code).toBe(0)
    await cancel(live)
    expect(homes()).toEqual([strangers])
  })

  it("is deleted by the next host", async () => {
    const dead = await startHost()
    await kill(dead)
    const ledgers = ledgersOf(world)
    expect(ledgers).toHaveLength(1)
    const next = start(world, ["run", "wait"])
    await until("the home is gone", () => !existsSync(dead.home))
    await until("the ledger is gone", () => !ledgersOf(world).includes(ledgers[0] ?? ""))
    await cancel({ running: next })
  })
})
