import * as fs from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import * as path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { WebSocket } from "ws"
import { serveControlPlane } from "../../../src/actors/ControlConnection.ts"
import { layerWebSocket } from "../../../src/layers/RunnerClient.ts"
import { tokenFolder } from "../../../src/layers/transport/tokenFolder.ts"
import { type AuthorizedPlane, serveWebSocket } from "../../../src/layers/transport/webSocket.ts"
import { connectWebSocket } from "../../../src/layers/transport/webSocketClient.ts"
import { limits } from "../../../src/schema/limits.ts"
import type { FrameChannel } from "../../../src/services/FrameChannel.ts"
import * as Ids from "../../../src/services/Ids.ts"
import { RunnerClient } from "../../../src/services/RunnerClient.ts"
import { fork, inRunner, playedRuns, said, statusOf } from "../../actors/controlHost.ts"
import { started } from "../../actors/durableHost.ts"
import { channelCases, sizedFrame } from "./channelCases.ts"

let folder = ""
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "gr-web-"))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const hour = { companyId: "a", runIds: null, ttlMs: 3_600_000 }

/** Serves until the other end is gone. */
const idle = ({ channel }: AuthorizedPlane) => Effect.ignore(channel.take)

const serving = Effect.fnUntraced(function* <R>(
  serve: (plane: AuthorizedPlane) => Effect.Effect<void, never, R>,
  wanted = 0
) {
  const tokens = yield* tokenFolder(path.join(folder, "tokens"))
  const health = Effect.succeed({ runnerState: "ready" })
  const { port, url } = yield* serveWebSocket({ port: wanted, tokens, health, serve })
  return { tokens, port, url, ...(yield* tokens.mint(hour)) }
})

/** Both ends of one connection. */
const pairOf = Effect.fnUntraced(function* () {
  const served = yield* Deferred.make<FrameChannel>()
  const { token, url } = yield* serving(({ channel }) =>
    Effect.andThen(Deferred.succeed(served, channel), Effect.never)
  )
  return {
    url,
    token,
    runner: Deferred.await(served)
  }
})

const pair = Effect.gen(function* () {
  const { runner, token, url } = yield* pairOf()
  const peer = yield* connectWebSocket(url, token)
  return { runner: yield* runner, peer }
})

/** Somebody who does as he likes, and our end of it. */
const stranger = Effect.gen(function* () {
  const { runner, token, url } = yield* pairOf()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })),
    (socket) => Effect.sync(() => socket.terminate())
  )
  yield* Effect.callback<void>((resume) => void socket.once("open", () => resume(Effect.void)))
  return { runner: yield* runner, socket }
})

const closeOf = (socket: WebSocket) =>
  Effect.callback<number>((resume) => void socket.once("close", (code) => resume(Effect.succeed(code))))

const upgrade = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": Buffer.alloc(16).toString("base64")
}

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

const request = (
  port: number,
  options: {
    readonly path?: string
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {}
) =>
  Effect.callback<Answer>((resume) => {
    const asked = http.request({ host: "127.0.0.1", port, agent: false, ...options })
    asked.on("upgrade", ({ headers, statusCode = 0 }, socket) => {
      socket.destroy()
      resume(Effect.succeed({ status: statusCode, headers, body: "" }))
    })
    asked.on("response", (response) => {
      let body = ""
      response.on("data", (piece) => (body += String(piece)))
      response.on("end", () =>
        resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body }))
      )
    })
    asked.on("error", (error) => resume(Effect.die(error)))
    asked.end()
  })

/** A connection that says only this; completes with all that is answered, when it is closed. */
const rawly = (port: number, text: string) =>
  Effect.callback<string>((resume) => {
    let answer = ""
    const socket = net.createConnection(port, "127.0.0.1", () => socket.write(text))
    socket.on("data", (piece) => (answer += String(piece)))
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(answer)))
    return Effect.sync(() => socket.destroy())
  })

describe("a channel over a WebSocket", () => {
  for (const { name, run } of channelCases) it.live(name, () => Effect.flatMap(pair, run))

  it.live("takes a frame from the runner up to the larger bound, and not one byte more", () =>
    Effect.gen(function* () {
      const { peer, runner } = yield* pair
      const longest = sizedFrame(limits.runnerFrameBytesMax)
      yield* fork(runner.write(longest))
      expect((yield* peer.take) === longest).toBe(true)
      yield* fork(Effect.ignore(runner.write(sizedFrame(limits.runnerFrameBytesMax + 1))))
      expect(yield* Effect.flip(peer.take)).toMatchObject({ code: "channel_frame_too_large" })
    })
  )

  it.live("takes no binary message; what came before it is taken, and the answer still arrives", () =>
    Effect.gen(function* () {
      const { runner, socket } = yield* stranger
      const texts: Array<string> = []
      socket.on("message", (data) => texts.push(String(data)))
      const closing = yield* fork(closeOf(socket))
      socket.send("1")
      socket.send(Buffer.from("2"))
      socket.send("3")
      expect(yield* runner.take).toBe("1")
      const failure = { _tag: "FrameChannelClosed", code: "channel_not_text" }
      expect(yield* Effect.flip(runner.take)).toMatchObject(failure)
      expect(yield* Effect.flip(runner.take)).toMatchObject(failure)
      yield* runner.write("no text")
      yield* runner.close
      expect(yield* Fiber.join(closing)).toBe(1007)
      expect(texts).toEqual(["no text"])
    })
  )

  it.live("takes no message that is not UTF-8, and the answer still arrives", () =>
    Effect.gen(function* () {
      const { runner, socket } = yield* stranger
      const texts: Array<string> = []
      socket.on("message", (data) => texts.push(String(data)))
      const closing = yield* fork(closeOf(socket))
      socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
      expect(yield* Effect.flip(runner.take)).toMatchObject({ code: "channel_not_text" })
      yield* runner.write("no text")
      yield* runner.close
      expect(yield* Fiber.join(closing)).toBe(1007)
      expect(texts).toEqual(["no text"])
    })
  )

  it.live("counts the parts of a message together", () =>
    Effect.gen(function* () {
      const { runner, socket } = yield* stranger
      const half = "x".repeat(limits.transportFrameBytesMax / 2)
      socket.send(half, { fin: false })
      socket.send(half, { fin: true })
      expect((yield* runner.take)?.length).toBe(limits.transportFrameBytesMax)
      socket.send(half, { fin: false })
      socket.send(half, { fin: false })
      socket.send("x", { fin: true })
      expect(yield* Effect.flip(runner.take)).toMatchObject({ code: "channel_frame_too_large" })
      const closing = yield* fork(closeOf(socket))
      yield* runner.close
      expect(yield* Fiber.join(closing)).toBe(1009)
    })
  )

  it.live("is not compressed", () =>
    Effect.gen(function* () {
      expect((yield* stranger).socket.extensions).toBe("")
    })
  )

  it.live("of a peer that is gone without a word has ended, whatever was being written", () =>
    Effect.gen(function* () {
      const { runner, socket } = yield* stranger
      const writing = yield* fork(Effect.flip(Effect.forever(runner.write("x".repeat(60_000)))))
      yield* Effect.callback<void>((resume) => void socket.once("message", () => resume(Effect.void)))
      socket.terminate()
      expect(yield* Fiber.join(writing)).toMatchObject({ code: "channel_closed" })
      expect(yield* runner.take).toBe(undefined)
    })
  )

  it.live("holds what came in one piece, and reads nothing more while nobody takes", () =>
    Effect.gen(function* () {
      const { runner, socket } = yield* stranger
      const frame = "x".repeat(64 * 1024)
      let sent = 0
      const stuck = Effect.callback<void>((resume) => {
        const send = () => {
          if (sent++ < 1024) socket.send(frame, () => setImmediate(send))
          else resume(Effect.die("the socket never pushes back"))
        }
        send()
        const look = (before: number, still: number) => {
          if (still > 20) return resume(Effect.void)
          setTimeout(() => look(sent, sent === before ? still + 1 : 0), 5)
        }
        look(sent, 0)
      })
      yield* stuck
      expect(sent).toBeLessThan(512)
      for (let n = 0; n < sent; n++) expect((yield* runner.take)?.length).toBe(frame.length)
    })
  )
})

describe("a handshake", () => {
  it.live("needs a token that is good; of one that is not nothing is said", () =>
    Effect.gen(function* () {
      const { id, port, token, tokens } = yield* serving(idle)
      const { id: revoked, token: revokedToken } = yield* tokens.mint(hour)
      yield* tokens.revoke(revoked)
      const expired = yield* tokens.mint({ ...hour, ttlMs: 1 })
      yield* Effect.repeat(Effect.option(tokens.verify(expired.token)), {
        until: (verified) => verified._tag === "None",
        times: 1_000_000
      })
      const tried = [
        undefined,
        "",
        "Bearer",
        "Bearer ",
        `Bearer ${id}`,
        `Bearer ${token}x`,
        `Bearer x${token}`,
        `Bearer ${token} ${token}`,
        `Basic ${Buffer.from(token).toString("base64")}`,
        token,
        `Bearer ${revokedToken}`,
        `Bearer ${expired.token}`,
        `Bearer ../../${token}`
      ]
      const answers = yield* Effect.forEach(tried, (authorization) =>
        request(port, { headers: { ...upgrade, ...(authorization === undefined ? {} : { authorization }) } })
      )
      const nothing = { connection: "close", "content-length": "0", "www-authenticate": "Bearer" }
      expect(answers).toEqual(tried.map(() => ({ status: 401, headers: nothing, body: "" })))
      const good = { headers: { ...upgrade, authorization: `bearer ${token}` } }
      expect((yield* request(port, good)).status).toBe(101)
    })
  )

  it.live("of a page in a browser is refused, whatever token it has", () =>
    Effect.gen(function* () {
      const { port, token } = yield* serving(idle)
      for (const origin of ["https://example.org", `http://127.0.0.1:${port}`, "null", ""]) {
        const headers = { ...upgrade, origin, authorization: `Bearer ${token}` }
        expect((yield* request(port, { headers })).status).toBe(403)
        expect((yield* request(port, { path: "/health", headers: { origin } })).status).toBe(403)
      }
    })
  )

  it.live("is for one path, and of the right kind", () =>
    Effect.gen(function* () {
      const { port, token } = yield* serving(idle)
      const status = (path: string, headers: Readonly<Record<string, string>> = {}) =>
        Effect.map(
          request(port, { path, headers: { ...upgrade, authorization: `Bearer ${token}`, ...headers } }),
          (answer) => answer.status
        )
      for (const path of ["/other", "//", "/health", "/../", "*"]) expect(yield* status(path)).toBe(404)
      expect(yield* status("/", { upgrade: "h2c" })).toBe(400)
      expect(yield* status("/", { "sec-websocket-version": "1" })).toBe(400)
      expect(yield* status("/?a=b")).toBe(101)
      expect((yield* request(port)).status).toBe(426)
    })
  )

  it.live("must be over within its time", () =>
    Effect.gen(function* () {
      expect(limits.handshakeCheckMs).toBeLessThan(limits.helloMs)
      const { port } = yield* serving(idle)
      const answers = yield* Effect.all([rawly(port, "GET / HTTP/1.1\r\nHost: x\r\nUpgr"), rawly(port, "")], {
        concurrency: 2
      })
      expect(answers[0]).toMatch(/^HTTP\/1.1 408 /)
    })
  )

  it.live("is a typed failure for who connects", () =>
    Effect.gen(function* () {
      const { port, token, url } = yield* serving(idle)
      const refusal = (address: string, bearer = token) => Effect.scoped(Effect.flip(connectWebSocket(address, bearer)))
      expect(yield* refusal(url, `${token}x`)).toMatchObject({ _tag: "ConnectRefused", reason: "unauthorized" })
      expect(yield* refusal(`${url}other`)).toMatchObject({ reason: "failed", detail: "status 404" })
      for (const [address, bearer] of [
        ["nowhere", token],
        ["ftp://127.0.0.1", token],
        [url, `${token}\r\nX: y`]
      ] as const) {
        const error = yield* refusal(address, bearer)
        expect(error).toMatchObject({ reason: "failed" })
        expect(JSON.stringify(error)).not.toContain(token)
      }
      const free = yield* Effect.scoped(Effect.map(serving(idle), (other) => other.port))
      expect(free).not.toBe(port)
      expect(yield* refusal(`ws://127.0.0.1:${free}/`)).toMatchObject({ reason: "no_server" })
    })
  )

  it.live("that is not answered is given up in time", () =>
    Effect.gen(function* () {
      const silent = net.createServer((socket) => void socket.on("error", () => {}).resume())
      yield* Effect.callback<void>((resume) => void silent.listen(0, "127.0.0.1", () => resume(Effect.void)))
      const address = silent.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const refusal = yield* Effect.scoped(Effect.flip(connectWebSocket(`ws://127.0.0.1:${port}/`, "t")))
      expect(refusal).toMatchObject({ reason: "timed_out" })
      // The connection is gone as well, else this did not complete.
      yield* Effect.callback<void>((resume) => void silent.close(() => resume(Effect.void)))
    })
  )
})

describe("the listener", () => {
  it.live("is on loopback alone", () =>
    Effect.gen(function* () {
      const { port } = yield* serving(idle)
      const others = Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .filter(({ address }) => address !== "127.0.0.1")
      for (const { address } of others) {
        const reached = yield* Effect.callback<boolean>((resume) => {
          const socket = net.createConnection(port, address, () => resume(Effect.succeed(true)))
          socket.on("error", () => resume(Effect.succeed(false)))
          return Effect.sync(() => socket.destroy())
        })
        expect(reached).toBe(false)
      }
    })
  )

  it.live("says how the runner is, without a token, and nothing else", () =>
    Effect.gen(function* () {
      const { port } = yield* serving(idle)
      const { body, headers, status } = yield* request(port, { path: "/health?a" })
      expect(JSON.parse(body)).toEqual({ runnerState: "ready" })
      expect({ status, ...headers }).toMatchObject({
        status: 200,
        "content-type": "application/json",
        "cache-control": "no-store"
      })
      expect((yield* request(port, { path: "/health", method: "POST" })).status).toBe(404)
      expect((yield* request(port, { path: "/healthy" })).status).toBe(404)
    })
  )

  it.live("of a port that is taken, or is none, is a typed failure", () =>
    Effect.gen(function* () {
      const { port } = yield* serving(idle)
      const refusal = (wanted: number) => Effect.scoped(Effect.flip(serving(idle, wanted)))
      expect(yield* refusal(port)).toMatchObject({
        _tag: "ListenRefused",
        address: `127.0.0.1:${port}`,
        reason: "in_use"
      })
      expect(yield* refusal(65_536)).toMatchObject({ _tag: "ListenRefused", reason: "unusable" })
    })
  )

  it.live("takes so many connections, and one more is closed at once; how it is, it still says", () =>
    Effect.gen(function* () {
      const { port, token, url } = yield* serving(idle)
      const some = yield* Effect.forEach(
        Array.from({ length: limits.transportConnectionsMax }),
        () => connectWebSocket(url, token),
        { concurrency: 8 }
      )
      const attempt = Effect.exit(Effect.scoped(connectWebSocket(url, token)))
      const more = yield* Effect.flip(Effect.scoped(connectWebSocket(url, token)))
      expect(more).toMatchObject({ _tag: "ConnectRefused", reason: "failed" })
      expect((yield* request(port, { path: "/health" })).status).toBe(200)
      yield* some[0]!.close
      // The room comes back once the other side has noticed.
      expect(Exit.isSuccess(yield* Effect.repeat(attempt, { until: Exit.isSuccess, times: 100 }))).toBe(true)
    })
  )

  it.live("holds as many again that are no control planes, and one more is closed at once", () =>
    Effect.gen(function* () {
      const { port } = yield* serving(idle)
      const open = Effect.callback<net.Socket>((resume) => {
        const socket = net.createConnection(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
        socket.on("error", () => {})
      })
      const some = yield* Effect.forEach(Array.from({ length: 2 * limits.transportConnectionsMax }), () => open)
      expect(yield* rawly(port, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")).toBe("")
      some[0]!.destroy()
      const again = yield* Effect.repeat(rawly(port, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"), {
        until: (answer) => answer.startsWith("HTTP/1.1 200 "),
        times: 100
      })
      expect(again).toMatch(/^HTTP\/1.1 200 /)
      for (const socket of some) socket.destroy()
    })
  )

  it.live("that is closed tells who is connected, waits for nobody else, and is gone", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const connected = yield* Deferred.make<void>()
      const { port, token, url } = yield* serving(({ channel }) =>
        Effect.andThen(Deferred.succeed(connected, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Effect.andThen(Effect.ignore(channel.write(`"bye"`)), channel.close))
        )
      ).pipe(Scope.provide(scope))
      const peer = yield* connectWebSocket(url, token)
      const waiting = yield* fork(rawly(port, "GET /hea"))
      yield* Deferred.await(connected)
      const closing = yield* fork(Scope.close(scope, Exit.void))
      expect(yield* peer.take).toBe(`"bye"`)
      expect(yield* peer.take).toBe(undefined)
      yield* Fiber.join(closing)
      expect(yield* Fiber.join(waiting)).toBe("")
      expect(yield* Effect.flip(Effect.scoped(connectWebSocket(url, token)))).toMatchObject({ reason: "no_server" })
    })
  )

  it.live("outlives a connection that crashes", () =>
    Effect.gen(function* () {
      const { token, url } = yield* serving(({ channel }) =>
        Effect.flatMap(Effect.orDie(channel.take), (text) => Effect.die(text))
      )
      const first = yield* connectWebSocket(url, token)
      const second = yield* connectWebSocket(url, token)
      yield* first.write("1")
      expect(yield* first.take).toBe(undefined)
      yield* second.write("2")
      expect(yield* second.take).toBe(undefined)
    })
  )
})

/** A runner with runs of two companies, and its clients over a real WebSocket. */
const hosting = Effect.fnUntraced(function* () {
  const { tokens, url } = yield* serving(serveControlPlane)
  const connect = (token: string, name: string | null = "main") =>
    Effect.flatMap(RunnerClient, (client) => client.connect({ name })).pipe(
      Effect.provide(Layer.provide(layerWebSocket(url, token), Ids.layer))
    )
  return { tokens, url, connect }
})

const companies = { a1: "a", a2: "a", b1: "b", mine: null }

const played = () => {
  const runs = playedRuns(companies)
  runs.statuses = Object.entries(companies).map(([runId, companyId]) => statusOf(runId, { companyId }))
  return runs
}

describe("the bearer of a token", () => {
  it.live("sees the runs and the events of its company, and nothing of another", () =>
    inRunner(
      Effect.gen(function* () {
        const { connect, tokens } = yield* hosting()
        const all = yield* tokens.mint({ ...hour, companyId: "a" })
        const one = yield* tokens.mint({ ...hour, companyId: "a", runIds: ["a2", "b1"] })
        const other = yield* tokens.mint({ ...hour, companyId: "b" })
        for (const runId of ["b1", "mine", "a1", "a2"]) yield* said(runId, started())
        const seen = (token: string) =>
          Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* connect(token)
              const events = new Array<string>()
              const { producedSourceSeq, runs } = connection.welcome
              const last = runs.at(-1)?.runId
              while (events.at(-1) !== last) events.push(...(yield* connection.take).map(({ runId }) => runId))
              return {
                authority: connection.welcome.authority,
                runs: runs.map(({ runId }) => runId),
                events,
                producedSourceSeq
              }
            })
          )
        expect(yield* seen(all.token)).toMatchObject({
          authority: { _tag: "Tenant", companyId: "a", runIds: null },
          runs: ["a1", "a2"],
          events: ["a1", "a2"]
        })
        expect(yield* seen(one.token)).toMatchObject({
          authority: { _tag: "Tenant", companyId: "a", runIds: ["a2", "b1"] },
          runs: ["a2"],
          events: ["a2"]
        })
        expect(yield* seen(other.token)).toMatchObject({ runs: ["b1"], events: ["b1"] })
      }),
      played()
    )
  )

  it.live("commands as who it is", () => {
    const runs = played()
    return inRunner(
      Effect.gen(function* () {
        const { connect, tokens } = yield* hosting()
        const { token } = yield* tokens.mint({ ...hour, companyId: "b", runIds: ["b1"] })
        const connection = yield* connect(token)
        yield* connection.command("a1", "session.snapshot", {})
        expect(runs.received).toMatchObject([
          { runId: "a1", authority: { _tag: "Tenant", companyId: "b", runIds: ["b1"] } }
        ])
      }),
      runs
    )
  })

  it.live("is told and disconnected when its token is revoked or expires; others stay", () =>
    inRunner(
      Effect.gen(function* () {
        const { connect, tokens } = yield* hosting()
        const revoked = yield* tokens.mint(hour)
        const expiring = yield* tokens.mint({ ...hour, ttlMs: 1_500 })
        const stays = yield* tokens.mint(hour)
        const [first, second, third] = [
          yield* connect(revoked.token, null),
          yield* connect(expiring.token, null),
          yield* connect(stays.token, null)
        ]
        yield* first.ping
        yield* tokens.revoke(revoked.id)
        expect(yield* Effect.flip(first.take)).toMatchObject({ _tag: "RunnerRefused", code: "authority_revoked" })
        expect(yield* Effect.flip(second.take)).toMatchObject({ _tag: "RunnerRefused", code: "authority_expired" })
        yield* third.ping
        for (const { token } of [revoked, expiring]) {
          expect(yield* Effect.flip(connect(token))).toMatchObject({ reason: "unauthorized" })
        }
      }),
      played()
    )
  )

  it.live("is told of a frame past the bound, and of one that is no text", () =>
    inRunner(
      Effect.gen(function* () {
        const { tokens, url } = yield* hosting()
        const { token } = yield* tokens.mint(hour)
        const lastWord = (frame: string | Buffer) =>
          Effect.callback<unknown>((resume) => {
            const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
            let last: unknown
            socket.on("open", () => socket.send(frame))
            socket.on("message", (data) => (last = JSON.parse(String(data))))
            socket.on("close", () => resume(Effect.succeed(last)))
          })
        const error = (code: string) => ({ kind: "error", payload: { code } })
        const bound = limits.transportFrameBytesMax
        expect(yield* lastWord(sizedFrame(bound))).toMatchObject(error("schema_validation"))
        expect(yield* lastWord(sizedFrame(bound + 1))).toMatchObject({
          payload: { code: "frame_too_large", limitBytes: bound }
        })
        expect(yield* lastWord(Buffer.from("{}"))).toMatchObject(error("frame_not_text"))
      }),
      played()
    )
  )
})
