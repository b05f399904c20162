/** Folders and executables that live as long as a test. */
import * as Effect from "effect/Effect"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "greenroom-test-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Below the folder, with its parents. */
export const placeFile = (folder: string, name: string, content = "", mode = 0o644) =>
  Effect.promise(async () => {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content, { mode })
    return path
  })

export const placeExecutable = (folder: string, name: string) => placeFile(folder, name, "#!/bin/sh\n", 0o755)
