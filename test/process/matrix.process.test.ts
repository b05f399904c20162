import * as fs from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { BackendProbe } from "../../src/services/Os.ts"
import { runBytes } from "./bytes.ts"
import { backends, endings } from "./cells.ts"
import { runLedgers } from "./ledgers.ts"
import { runWithLinks } from "./links.ts"
import { probedBackends, type Result, runChildren, runForkStorm } from "./matrix.ts"
import { isAllowed } from "./processes.ts"
import { makeFolder } from "./startHost.ts"

const isRoot = process.getuid?.() === 0
const folder = makeFolder()
let probes: ReadonlyArray<BackendProbe> = []
beforeAll(async () => {
  probes = await probedBackends()
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const broken = (results: ReadonlyArray<Result>) => results.filter(({ passed }) => !passed)

describe.each(backends)("the processes of a launch under %s", (backend) => {
  const whereUsable = (name: string, run: () => Promise<void>) =>
    it.concurrent(name, { timeout: 60_000 }, (context) => {
      context.skip(!probes.find((one) => one.backend === backend)?.usable, "the backend is not usable here")
      return run()
    })

  it("are owned wherever the system allows it", () => {
    expect(probes.find((one) => one.backend === backend)).toMatchObject({ usable: isAllowed(backend) })
  })

  for (const ending of endings)
    whereUsable(`end with ${ending}, and only they`, async () => {
      expect(broken(await runChildren(backend, ending))).toEqual([])
    })

  for (const ending of ["close", "SIGKILL"] as const)
    whereUsable(`end with ${ending} in the middle of a fork storm`, async () => {
      expect(broken(await runForkStorm(backend, ending))).toEqual([])
    })

  whereUsable("are reaped by another host when theirs was killed, and those of a live host are not", async () => {
    expect(await runLedgers(backend)).toEqual({
      wasLeft: true,
      deadReaped: true,
      deadLedgerGone: true,
      liveUntouched: true
    })
  })

  whereUsable("pass bytes through unchanged", async () => {
    expect((await runWithLinks(folder, runBytes(backend, 64))).equal).toBe(true)
  })
})

describe.runIf(isRoot)("an ordinary user's host", () => {
  const nobody = 65534

  it.each(backends)("owns its processes under %s", { timeout: 60_000 }, async (backend) => {
    const probed = (await probedBackends(nobody)).find((one) => one.backend === backend)
    expect(probed).toMatchObject({ usable: isAllowed(backend, nobody) })
    if (probed?.usable) expect(broken(await runChildren(backend, "SIGKILL", nobody))).toEqual([])
  })
})
