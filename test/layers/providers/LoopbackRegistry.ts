/** An npm registry on loopback with one package, so that installing is tested without any network. */
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type Server, type ServerResponse } from "node:http"
import { dirname, join } from "node:path"
import { platform } from "../../../src/layers/providers/agentCache.ts"
import type { Distribution, HostEnvironment } from "../../../src/services/Provider.ts"
import { temporaryFolder } from "./temporary.ts"

export interface LoopbackRegistry {
  /** For npm and for us, with a cache and a home of its own. */
  readonly host: HostEnvironment
  readonly folder: string
  readonly requests: ReadonlyArray<string>
  /** Answers nothing from now on. `asked` completes with the first request, `left` when the client has hung up. */
  readonly hang: () => { readonly asked: Promise<void>; readonly left: Promise<void> }
  readonly close: () => void
}

export const content = "#!/bin/sh\necho agent\n"

export const sha256 = createHash("sha256").update(content).digest("hex")

export const distribution: Distribution = {
  package: "@greenroom-test/agent-{platform}",
  version: "1.2.3",
  executable: "bin/agent",
  sha256: { [platform]: sha256 }
}

/** `manifest` is added to the package's own. */
export const loopbackRegistry = (manifest: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    return yield* Effect.acquireRelease(
      Effect.promise(() => start(folder, manifest)),
      (registry) => Effect.sync(registry.close)
    )
  })

const start = async (folder: string, manifest: object): Promise<LoopbackRegistry> => {
  const name = distribution.package.replace("{platform}", platform)
  const fields = { name, version: distribution.version, ...manifest }
  const tarball = pack(folder, fields)
  const requests: Array<string> = []
  let hanging: ((response: ServerResponse) => void) | undefined
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? "")
    requests.push(url)
    if (hanging !== undefined) return hanging(response)
    if (url === "/agent.tgz") return response.end(tarball)
    if (url !== `/${name}`) return response.writeHead(404).end("{}")
    const dist = { tarball: `${originOf(server)}/agent.tgz`, integrity: integrityOf(tarball) }
    const versions = { [distribution.version]: { ...fields, dist } }
    return response.end(JSON.stringify({ name, "dist-tags": { latest: distribution.version }, versions }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    folder,
    requests,
    host: {
      PATH: process.env["PATH"],
      HOME: folder,
      XDG_CACHE_HOME: join(folder, "cache"),
      npm_config_registry: originOf(server),
      npm_config_cache: join(folder, "npm-cache"),
      npm_config_fetch_retries: "0"
    },
    hang: () => {
      const asked = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      hanging = (response) => {
        response.on("close", left.resolve)
        asked.resolve()
      }
      return { asked: asked.promise, left: left.promise }
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const originOf = (server: Server): string => {
  const address = server.address()
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
}

const integrityOf = (tarball: Uint8Array): string => `sha512-${createHash("sha512").update(tarball).digest("base64")}`

const pack = (folder: string, manifest: object): Uint8Array => {
  const executable = join(folder, "package", distribution.executable)
  mkdirSync(dirname(executable), { recursive: true })
  writeFileSync(executable, content, { mode: 0o755 })
  writeFileSync(join(folder, "package/package.json"), JSON.stringify(manifest))
  execFileSync("tar", ["-czf", "agent.tgz", "package"], { cwd: folder })
  return readFileSync(join(folder, "agent.tgz"))
}
