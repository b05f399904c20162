/** Where a runner that serves keeps what it has, and where it listens. */
import { join } from "node:path"
import { stateFolder } from "../layers/folders.ts"

/** Default: `serve` in the user's folder of state. */
export const serveFolder = (state: string | undefined): string => state ?? join(stateFolder(process.env), "serve")

/** Default: `runner.sock` in that folder. */
export const socketPath = (state: string | undefined, socket: string | undefined): string =>
  socket ?? join(serveFolder(state), "runner.sock")
