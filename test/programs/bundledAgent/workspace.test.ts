import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  fileToRead,
  FileRefused,
  listFiles,
  pathInside,
  replaceText
} from "../../../src/programs/bundledAgent/workspace.ts"
import { limits } from "../../../src/schema/limits.ts"

let cwd = ""
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "greenroom-workspace-"))
})
afterEach(() => rmSync(cwd, { recursive: true }))

describe("the workspace of the bundled agent", () => {
  it("lists files and folders sorted, up to the bound", () => {
    for (let index = 0; index < limits.bundledAgentFilesListedMax - 1; index++)
      writeFileSync(join(cwd, `f${100 + index}`), "")
    mkdirSync(join(cwd, "a"))
    expect(listFiles(cwd)).toHaveLength(limits.bundledAgentFilesListedMax)
    expect(listFiles(cwd)[0]).toBe("a/")
    writeFileSync(join(cwd, "z"), "")
    expect(listFiles(cwd)).toHaveLength(limits.bundledAgentFilesListedMax)
    expect(listFiles(cwd)).not.toContain("z")
  })

  it("takes a file of the largest size, and none above", () => {
    writeFileSync(join(cwd, "f"), "x".repeat(limits.bundledAgentFileBytesMax))
    expect(pathInside(cwd, "f")).toBe(join(cwd, "f"))
    writeFileSync(join(cwd, "f"), "x".repeat(limits.bundledAgentFileBytesMax + 1))
    expect(() => pathInside(cwd, "f")).toThrow(FileRefused)
  })

  it("takes new files and files in folders, and nothing outside", () => {
    mkdirSync(join(cwd, "in"))
    symlinkSync("/nowhere", join(cwd, "dangling"))
    expect(pathInside(cwd, "in/new")).toBe(join(cwd, "in/new"))
    expect(pathInside(cwd, "..a")).toBe(join(cwd, "..a"))
    for (const file of ["../a", "/etc/hosts", "in", "dangling", "in/../../a", "gone/a", "."])
      expect(() => pathInside(cwd, file), file).toThrow(FileRefused)
  })

  it("works in a workspace that is reached through a link", () => {
    mkdirSync(join(cwd, "real"))
    symlinkSync("real", join(cwd, "link"))
    expect(pathInside(join(cwd, "link"), "new")).toBe(join(cwd, "link", "new"))
  })

  it("replaces a text only while it is what it was", () => {
    const path = join(cwd, "f")
    replaceText(path, undefined, "1")
    replaceText(path, "1", "2")
    expect(() => replaceText(path, "1", "3")).toThrow(FileRefused)
    expect(() => replaceText(path, undefined, "3")).toThrow(FileRefused)
  })

  it("reads the wanted file, else README.md, else the first", () => {
    expect(fileToRead(cwd, "x")).toBeUndefined()
    for (const name of ["b", "c"]) writeFileSync(join(cwd, name), "")
    expect(fileToRead(cwd, "x")).toBe("b")
    writeFileSync(join(cwd, "README.md"), "")
    expect([fileToRead(cwd, "x"), fileToRead(cwd, "c")]).toEqual(["README.md", "c"])
  })
})
