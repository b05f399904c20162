import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { connectUnixSocket, serveUnixSocket, socketPathBytesMax } from "../../../src/layers/transport/unixSocket.ts"
import { ListenRefused } from "../../../src/schema/errors.ts"
import { limits } from "../../../src/schema/limits.ts"
import type { FrameChannel } from "../../../src/services/FrameChannel.ts"
import { channelCases } from "./channelCases.ts"

let folder = ""
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "gr-socket-"))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const socketFile = () => path.join(folder, "s")

/** Serves until the other end is gone. */
const idle = (channel: FrameChannel) => Effect.ignore(channel.take)

const refusal = (file: string) =>
  Effect.scoped(Effect.flip(serveUnixSocket({ path: file, serve: idle }))).pipe(
    Effect.map((error) => (error instanceof ListenRefused ? error : undefined))
  )

const pair = Effect.gen(function* () {
  const served = yield* Deferred.make<FrameChannel>()
  yield* serveUnixSocket({
    path: socketFile(),
    serve: (channel) => Effect.andThen(Deferred.succeed(served, channel), Effect.never)
  })
  const peer = yield* connectUnixSocket(socketFile())
  return { runner: yield* Deferred.await(served), peer }
})

describe("a channel over a unix socket", () => {
  for (const { name, run } of channelCases) it.live(name, () => Effect.flatMap(pair, run))
})

describe("the socket", () => {
  it.live("is 0600 in a folder that is made 0700, and gone with its scope", () =>
    Effect.gen(function* () {
      const file = path.join(folder, "private", "s")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* serveUnixSocket({ path: file, serve: idle })
          expect(fs.statSync(file).mode & 0o777).toBe(0o600)
          expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
        })
      )
      expect(fs.existsSync(file)).toBe(false)
    })
  )

  it.live("may have a path up to the limit; a longer one is refused with the limit named", () =>
    Effect.gen(function* () {
      expect(socketPathBytesMax).toBe(
        process.platform === "darwin" ? limits.socketPathBytesMaxOnMac : limits.socketPathBytesMax
      )
      const room = socketPathBytesMax - Buffer.byteLength(folder) - 1
      const longest = path.join(folder, "x".repeat(room))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* serveUnixSocket({ path: longest, serve: idle })
          expect(fs.readdirSync(folder)).toEqual(["x".repeat(room)])
          yield* connectUnixSocket(longest)
        })
      )
      expect(yield* refusal(`${longest}x`)).toMatchObject({ reason: "path_too_long", limitBytes: socketPathBytesMax })
      expect(yield* Effect.scoped(Effect.flip(connectUnixSocket(`${longest}x`)))).toMatchObject({
        reason: "path_too_long"
      })
    })
  )

  it.live("is not made where others could get at it", () =>
    Effect.gen(function* () {
      fs.mkdirSync(path.join(folder, "open"), { mode: 0o755 })
      fs.chmodSync(path.join(folder, "open"), 0o755)
      expect(yield* refusal(path.join(folder, "open", "s"))).toMatchObject({ reason: "not_private" })
      fs.mkdirSync(path.join(folder, "real"), { mode: 0o700 })
      fs.symlinkSync(path.join(folder, "real"), path.join(folder, "link"))
      expect(yield* refusal(path.join(folder, "link", "s"))).toMatchObject({ reason: "symlink" })
    })
  )

  it.live("does not take the place of anything else", () =>
    Effect.gen(function* () {
      fs.writeFileSync(socketFile(), "mine")
      expect(yield* refusal(socketFile())).toMatchObject({ reason: "foreign" })
      expect(fs.readFileSync(socketFile(), "utf8")).toBe("mine")
      fs.rmSync(socketFile())
      fs.symlinkSync(path.join(folder, "elsewhere"), socketFile())
      expect(yield* refusal(socketFile())).toMatchObject({ reason: "foreign" })
    })
  )

  it.live("of a runner that answers is left alone", () =>
    Effect.gen(function* () {
      yield* serveUnixSocket({ path: socketFile(), serve: idle })
      expect(yield* refusal(socketFile())).toMatchObject({ reason: "in_use" })
      yield* connectUnixSocket(socketFile())
    })
  )

  it.live("of a runner that was killed is replaced", () =>
    Effect.gen(function* () {
      const listening = `require("node:net").createServer().listen(process.argv[1], () => console.log("up"))`
      const child = spawn(process.execPath, ["-e", listening, socketFile()], { stdio: ["ignore", "pipe", "inherit"] })
      yield* Effect.promise(() => new Promise((resolve) => child.stdout.once("data", resolve)))
      yield* Effect.promise(
        () =>
          new Promise((resolve) => {
            child.once("exit", resolve)
            child.kill("SIGKILL")
          })
      )
      expect(fs.existsSync(socketFile())).toBe(true)
      yield* serveUnixSocket({ path: socketFile(), serve: idle })
      yield* connectUnixSocket(socketFile())
    })
  )

  it.live("of nobody is a typed failure for who connects", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(connectUnixSocket(socketFile()))).toMatchObject({ reason: "no_server" })
    })
  )

  it.live("takes so many connections, and one more is closed at once", () =>
    Effect.gen(function* () {
      yield* serveUnixSocket({ path: socketFile(), serve: idle })
      const some = yield* Effect.forEach(
        Array.from({ length: limits.transportConnectionsMax }),
        () => connectUnixSocket(socketFile()),
        { concurrency: 8 }
      )
      const more = yield* connectUnixSocket(socketFile())
      expect(yield* more.take).toBe(undefined)
      yield* some[0]!.close
      // The room comes back once the other side has noticed.
      const again = yield* Effect.repeat(
        Effect.scoped(
          Effect.flatMap(connectUnixSocket(socketFile()), (channel) =>
            Effect.timeoutOption(channel.take, 50).pipe(Effect.map((end) => end._tag === "None"))
          )
        ),
        { until: (stays) => stays, times: 100 }
      )
      expect(again).toBe(true)
    })
  )

  it.live("that is closed tells who is connected before it goes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const connected = yield* Deferred.make<void>()
      yield* serveUnixSocket({
        path: socketFile(),
        serve: (channel) =>
          Effect.andThen(Deferred.succeed(connected, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Effect.andThen(Effect.ignore(channel.write(`"bye"`)), channel.close))
          )
      }).pipe(Scope.provide(scope))
      const peer = yield* connectUnixSocket(socketFile())
      yield* Deferred.await(connected)
      yield* Effect.forkScoped(Scope.close(scope, Exit.void))
      expect(yield* peer.take).toBe(`"bye"`)
      expect(yield* peer.take).toBe(undefined)
    })
  )

  it.live("outlives a connection that crashes", () =>
    Effect.gen(function* () {
      yield* serveUnixSocket({
        path: socketFile(),
        serve: (channel) => Effect.flatMap(Effect.orDie(channel.take), (text) => Effect.die(text))
      })
      const first = yield* connectUnixSocket(socketFile())
      const second = yield* connectUnixSocket(socketFile())
      yield* first.write("1")
      expect(yield* first.take).toBe(undefined)
      yield* second.write("2")
      expect(yield* second.take).toBe(undefined)
    })
  )
})

describe("a peer that is gone", () => {
  it.live("without a word is the end of the input, whatever was being written", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<string | undefined>()
      yield* serveUnixSocket({
        path: socketFile(),
        serve: (channel) =>
          Effect.ignore(channel.take).pipe(
            Effect.andThen(Effect.ignore(Effect.forever(channel.write("x".repeat(60_000))))),
            Effect.andThen(Effect.orDie(channel.take)),
            Effect.flatMap((text) => Deferred.succeed(ended, text))
          )
      })
      yield* Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            const socket = net.createConnection(socketFile(), () => socket.write("1\n"))
            socket.once("data", () => {
              socket.destroy()
              resolve()
            })
          })
      )
      expect(yield* Deferred.await(ended)).toBe(undefined)
    })
  )
})
