import * as fs from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { tokenFolder } from "../../../src/layers/transport/tokenFolder.ts"
import { digestOf } from "../../../src/schema/identity.ts"
import { limits } from "../../../src/schema/limits.ts"

let root = ""
beforeEach(() => {
  root = fs.mkdtempSync(path.join(tmpdir(), "gr-tokens-"))
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

const place = () => path.join(root, "tokens")
const fileOf = (id: string) => path.join(place(), `${id}.json`)

const hour = { companyId: "a", runIds: null, ttlMs: 3_600_000 }

/** Two processes have one of these each. */
const opened = Effect.suspend(() => tokenFolder(place()))

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkScoped(effect, { startImmediately: true })

const stateOf = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  Effect.sync(() => (fiber.pollUnsafe() === undefined ? "open" : "ended"))

describe("a token", () => {
  it.effect("is good for its company and its runs, whoever opened the folder", () =>
    Effect.gen(function* () {
      const [daemon, command] = [yield* opened, yield* opened]
      const { expiresAtMs, id, token } = yield* command.mint({ ...hour, runIds: ["r1", "r2"] })
      expect(token).toMatch(/^token_[0-9a-f]{24}\.[A-Za-z0-9_-]{43}$/)
      expect(token.startsWith(`${id}.`)).toBe(true)
      expect(expiresAtMs).toBe(hour.ttlMs)
      const grant = yield* daemon.verify(token)
      expect(grant).toMatchObject({ id, authority: { _tag: "Tenant", companyId: "a", runIds: ["r1", "r2"] } })
      expect(yield* daemon.list).toEqual([{ id, companyId: "a", runIds: ["r1", "r2"], expiresAtMs }])
    })
  )

  it.effect("is its own: no two are the same", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const made = yield* Effect.forEach(Array.from({ length: 32 }), () => tokens.mint(hour))
      expect(new Set(made.map(({ id }) => id)).size).toBe(32)
      expect(new Set(made.map(({ token }) => token.split(".")[1])).size).toBe(32)
    })
  )

  it.effect("is kept without its secret, in a 0600 file of a 0700 folder", () =>
    Effect.gen(function* () {
      const { id, token } = yield* (yield* opened).mint(hour)
      const secret = token.slice(id.length + 1)
      const text = fs.readFileSync(fileOf(id), "utf8")
      expect(text).toContain(digestOf(secret))
      expect(text).not.toContain(secret)
      expect(fs.statSync(fileOf(id)).mode & 0o777).toBe(0o600)
      expect(fs.statSync(place()).mode & 0o777).toBe(0o700)
    })
  )

  it.effect("is good until it expires, and not a millisecond longer", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const { token } = yield* tokens.mint({ ...hour, ttlMs: 10_000 })
      const ended = yield* fork((yield* tokens.verify(token)).ended)
      yield* TestClock.adjust(9_999)
      yield* tokens.verify(token)
      expect(yield* stateOf(ended)).toBe("open")
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(ended)).toBe("expired")
      expect(yield* Effect.flip(tokens.verify(token))).toMatchObject({ _tag: "TokenRefused", reason: "expired" })
      expect(yield* tokens.list).toEqual([])
    })
  )

  it.effect("that is revoked is not good from then on, and its grants end within the bound", () =>
    Effect.gen(function* () {
      const [daemon, command] = [yield* opened, yield* opened]
      const [{ id, token }, other] = [yield* command.mint(hour), yield* command.mint(hour)]
      const ended = yield* fork((yield* daemon.verify(token)).ended)
      const others = yield* fork((yield* daemon.verify(other.token)).ended)
      yield* TestClock.adjust(limits.tokenPollMs * 3)
      expect(yield* stateOf(ended)).toBe("open")
      expect(yield* command.revoke(id)).toBe(true)
      expect(yield* Effect.flip(daemon.verify(token))).toMatchObject({ reason: "unknown" })
      yield* TestClock.adjust(limits.tokenPollMs)
      expect(yield* Fiber.join(ended)).toBe("revoked")
      expect(yield* stateOf(others)).toBe("open")
      expect(yield* command.revoke(id)).toBe(false)
      expect((yield* daemon.list).map((one) => one.id)).toEqual([other.id])
    })
  )

  it.effect("has a company and runs with stable ids", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const refusal = (about: Partial<Parameters<typeof tokens.mint>[0]>) =>
        Effect.flip(tokens.mint({ ...hour, ...about }))
      const longest = "c".repeat(limits.idCharactersMax)
      yield* tokens.mint({ ...hour, companyId: longest, runIds: [longest] })
      const wrong = { reason: "company_id_invalid", limit: limits.idCharactersMax }
      expect(yield* refusal({ companyId: `${longest}c` })).toMatchObject(wrong)
      expect(yield* refusal({ companyId: "" })).toMatchObject(wrong)
      expect(yield* refusal({ companyId: "../a" })).toMatchObject(wrong)
      expect(yield* refusal({ runIds: ["r1", "a b"] })).toMatchObject({ reason: "run_id_invalid" })
    })
  )

  it.effect("names so many runs, and not one more", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const runIds = Array.from({ length: limits.tokenRunIdsMax }, (_, n) =>
        `${n}`.padStart(limits.idCharactersMax, "r")
      )
      const { token } = yield* tokens.mint({ ...hour, runIds })
      expect((yield* tokens.verify(token)).authority.runIds).toEqual(runIds)
      expect(yield* Effect.flip(tokens.mint({ ...hour, runIds: [...runIds, "r"] }))).toMatchObject({
        _tag: "TokenMintRefused",
        reason: "too_many_runs",
        limit: limits.tokenRunIdsMax
      })
    })
  )

  it.effect("is good for so long, and not longer", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      expect((yield* tokens.mint({ ...hour, ttlMs: limits.tokenTtlMsMax })).expiresAtMs).toBe(limits.tokenTtlMsMax)
      yield* tokens.mint({ ...hour, ttlMs: 1 })
      for (const ttlMs of [limits.tokenTtlMsMax + 1, 0, -1, 1.5, Number.NaN, Infinity]) {
        expect(yield* Effect.flip(tokens.mint({ ...hour, ttlMs }))).toMatchObject({ reason: "ttl_invalid" })
      }
    })
  )

  it.effect("is one of so many; an expired one makes room", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const { id } = yield* tokens.mint({ ...hour, ttlMs: 1000 })
      const record = JSON.parse(fs.readFileSync(fileOf(id), "utf8"))
      for (let n = 2; n < limits.tokensMax; n++) {
        const other = { ...record, id: `t${n}`, expiresAtMs: 1_000_000 }
        fs.writeFileSync(fileOf(other.id), JSON.stringify(other), { mode: 0o600 })
      }
      yield* tokens.mint(hour)
      expect(yield* Effect.flip(tokens.mint(hour))).toMatchObject({
        _tag: "TokenMintRefused",
        reason: "too_many_tokens",
        limit: limits.tokensMax
      })
      yield* TestClock.adjust(1000)
      yield* tokens.mint(hour)
      expect(fs.existsSync(fileOf(id))).toBe(false)
      expect((yield* tokens.list).length).toBe(limits.tokensMax)
    })
  )
})

describe("a text that is no token", () => {
  it.effect("is refused, whatever is wrong with it", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const { id, token } = yield* tokens.mint(hour)
      const secret = token.slice(id.length + 1)
      const last = secret.at(-1) === "A" ? "Q" : "A"
      const refused = {
        malformed: [
          "",
          ".",
          id,
          `${id}.`,
          `.${secret}`,
          `${token}x`,
          ` ${token}`,
          `${token}\n`,
          `${id} .${secret}`,
          secret
        ],
        unknown: [`token_0.${secret}`, `${id.toUpperCase()}.${secret}`, `${id}.${secret.slice(0, -1)}${last}`]
      }
      for (const [reason, texts] of Object.entries(refused)) {
        for (const text of texts) expect(yield* Effect.flip(tokens.verify(text))).toMatchObject({ reason })
      }
    })
  )

  it.effect("reaches no file outside, nor one that it has no name for", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const { id, token } = yield* tokens.mint(hour)
      const secret = token.slice(id.length + 1)
      fs.mkdirSync(path.join(place(), "in"), { mode: 0o700 })
      for (const elsewhere of ["../outside", "in/side"]) {
        fs.copyFileSync(fileOf(id), path.join(place(), `${elsewhere}.json`))
        expect(yield* Effect.flip(tokens.verify(`${elsewhere}.${secret}`))).toMatchObject({ reason: "malformed" })
        expect(yield* tokens.revoke(elsewhere)).toBe(false)
        expect(fs.existsSync(path.join(place(), `${elsewhere}.json`))).toBe(true)
      }
      const longest = `${"i".repeat(limits.idCharactersMax)}.${secret}`
      expect(yield* Effect.flip(tokens.verify(longest))).toMatchObject({ reason: "unknown" })
      expect(yield* Effect.flip(tokens.verify(`i${longest}`))).toMatchObject({ reason: "malformed" })
    })
  )
})

describe("a file that cannot be trusted", () => {
  const tampered = (name: string, tamper: (file: string) => void) =>
    it.effect(`is no token: ${name}`, () =>
      Effect.gen(function* () {
        const tokens = yield* opened
        const { id, token } = yield* tokens.mint(hour)
        const ended = yield* fork((yield* tokens.verify(token)).ended)
        tamper(fileOf(id))
        expect(yield* Effect.flip(tokens.verify(token))).toMatchObject({ reason: "unknown" })
        expect(yield* tokens.list).toEqual([])
        yield* TestClock.adjust(limits.tokenPollMs)
        expect(yield* Fiber.join(ended)).toBe("revoked")
      })
    )

  tampered("open to others", (file) => fs.chmodSync(file, 0o644))
  tampered("a symbolic link", (file) => {
    fs.renameSync(file, path.join(root, "moved"))
    fs.symlinkSync(path.join(root, "moved"), file)
  })
  tampered("a folder", (file) => {
    fs.rmSync(file)
    fs.mkdirSync(file, { mode: 0o700 })
  })
  tampered("not JSON", (file) => fs.writeFileSync(file, "{"))
  tampered("without a digest", (file) => fs.writeFileSync(file, "{}"))
  tampered("of another id", (file) =>
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(/"id":"\w+"/, `"id":"other"`))
  )
  tampered("larger than the bound", (file) =>
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").padEnd(limits.tokenFileBytesMax + 1))
  )

  it.effect("is one at the bound of its size", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const { id, token } = yield* tokens.mint(hour)
      fs.writeFileSync(fileOf(id), fs.readFileSync(fileOf(id), "utf8").padEnd(limits.tokenFileBytesMax))
      expect((yield* tokens.verify(token)).id).toBe(id)
    })
  )
})

describe("a folder that is not private", () => {
  const refusal = Effect.suspend(() => Effect.flip(tokenFolder(place())))

  it.effect("is not used, and left as it is", () =>
    Effect.gen(function* () {
      fs.mkdirSync(place(), { mode: 0o755 })
      fs.chmodSync(place(), 0o755)
      expect(yield* refusal).toMatchObject({ _tag: "TokenFolderUnusable", path: place(), reason: "not_private" })
      fs.renameSync(place(), path.join(root, "real"))
      fs.chmodSync(path.join(root, "real"), 0o700)
      fs.symlinkSync(path.join(root, "real"), place())
      expect(yield* refusal).toMatchObject({ reason: "symlink" })
      fs.rmSync(place())
      fs.writeFileSync(place(), "mine", { mode: 0o600 })
      expect(yield* refusal).toMatchObject({ reason: "unusable" })
      expect(fs.readFileSync(place(), "utf8")).toBe("mine")
    })
  )

  it.effect("fails with a type when it is gone", () =>
    Effect.gen(function* () {
      const tokens = yield* opened
      const { token } = yield* tokens.mint(hour)
      fs.rmSync(place(), { recursive: true })
      const gone = { _tag: "TokenFolderUnusable", reason: "unusable", detail: "ENOENT" }
      expect(yield* Effect.flip(tokens.mint(hour))).toMatchObject(gone)
      expect(yield* Effect.flip(tokens.list)).toMatchObject(gone)
      expect(yield* Effect.flip(tokens.verify(token))).toMatchObject({ reason: "unknown" })
      expect(yield* tokens.revoke("token_1")).toBe(false)
    })
  )
})
