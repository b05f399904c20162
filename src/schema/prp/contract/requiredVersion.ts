/**
 * The versions that a reader must know. They are judged before anything else, so that a value of a later version is told
 * apart from a broken one.
 */
import type { PrpIssue } from "../../errors.ts"
import { nativeAt } from "../native.ts"

/** The first required version in the value that we do not support. What is missing or no version at all is none. */
export const unsupportedVersion = (schemaIds: ReadonlyArray<string>, value: unknown): PrpIssue | undefined => {
  const id = nativeAt(value, "schema")
  if (typeof id === "string" && schemaIds.includes(id)) return unsupportedInside(id, value)
  const others = typeof id === "string" ? schemaIds.filter((known) => isOtherVersion(known, id)) : []
  if (others.length > 0) return issueAt("schema", others)
  const [only, ...more] = schemaIds
  return only !== undefined && more.length === 0 ? unsupportedInside(only, value) : undefined
}

/** The same name with another version. */
const isOtherVersion = (known: string, id: string): boolean => {
  const stem = /^.+\.v(?=\d+$)/.exec(known)?.[0]
  return stem !== undefined && id.startsWith(stem) && /^\d+$/.test(id.slice(stem.length))
}

const unsupportedInside = (schemaId: string, value: unknown): PrpIssue | undefined => {
  switch (schemaId) {
    case "paperclip.prp.event.v1":
      return unsupportedNumber(value, "schemaVersion", 1) ?? unsupportedInPayload(value) ?? unsupportedWhereOpen(value)
    case "paperclip.prp.event.v2":
      return unsupportedNumber(value, "schemaVersion", 2) ?? unsupportedWhereOpen(value)
    case "paperclip.prp.stop_reason.v1":
    case "paperclip.prp.semantic_tool.v1":
    case "paperclip.prp.semantic_tools.v1":
      return unsupportedNumber(value, "schemaVersion", 1)
    case "paperclip.prp.terminal.v1":
      return inside(value, "stopReason", ["paperclip.prp.stop_reason.v1"])
    case "paperclip.prp.capabilities.v1":
    case "paperclip.prp.capabilities.v2":
      return inside(value, "semanticTools", ["paperclip.prp.semantic_tools.v1"])
    case "paperclip.prp.fixture.v1":
      return unsupportedInFixture(value)
  }
  return undefined
}

const semanticToolEvents: ReadonlySet<unknown> = new Set([
  "semantic_tool.input",
  "semantic_tool.result",
  "semantic_tool.reconciled",
  "mcp_app.tool_input",
  "mcp_app.tool_result"
])

const unsupportedInPayload = (event: unknown): PrpIssue | undefined => {
  const eventType = nativeAt(event, "eventType")
  const payload = nativeAt(event, "payload")
  const issue = semanticToolEvents.has(eventType)
    ? inside(payload, "semantic_tool", ["paperclip.prp.semantic_tool.v1"])
    : eventType === "run.terminal"
      ? unsupportedVersion(["paperclip.prp.terminal.v1"], payload)
      : undefined
  return below("payload", issue)
}

/** What no schema types has its version all the same. */
const unsupportedWhereOpen = (event: unknown): PrpIssue | undefined => {
  const versionOf = (name: string) =>
    below(name, unsupportedNumber(nativeAt(event, "payload", name), "schemaVersion", 1))
  return below("payload", versionOf("semantic_tool") ?? versionOf("stopReason"))
}

const unsupportedInFixture = (fixture: unknown): PrpIssue | undefined =>
  unsupportedNumber(fixture, "fixtureVersion", 1) ??
  unsupportedNumber(fixture, "protocolVersion", 1, 2) ??
  inside(fixture, "capabilities", ["paperclip.prp.capabilities.v1", "paperclip.prp.capabilities.v2"]) ??
  insideEach(fixture, "commands", ["paperclip.prp.command.v1", "paperclip.prp.command.v2"]) ??
  insideEach(fixture, "events", ["paperclip.prp.event.v1", "paperclip.prp.event.v2"])

const unsupportedNumber = (value: unknown, name: string, ...supported: ReadonlyArray<number>): PrpIssue | undefined => {
  const version = nativeAt(value, name)
  return typeof version === "number" && Number.isInteger(version) && !supported.includes(version)
    ? issueAt(name, supported)
    : undefined
}

const inside = (value: unknown, name: string, schemaIds: ReadonlyArray<string>): PrpIssue | undefined =>
  below(name, unsupportedVersion(schemaIds, nativeAt(value, name)))

const insideEach = (value: unknown, name: string, schemaIds: ReadonlyArray<string>): PrpIssue | undefined => {
  const items = nativeAt(value, name)
  if (!Array.isArray(items)) return undefined
  for (const [index, item] of items.entries()) {
    const issue = below(`${name}/${index}`, unsupportedVersion(schemaIds, item))
    if (issue !== undefined) return issue
  }
  return undefined
}

const below = (name: string, issue: PrpIssue | undefined): PrpIssue | undefined =>
  issue && { ...issue, path: `/${name}${issue.path}` }

const issueAt = (name: string, supported: ReadonlyArray<string | number>): PrpIssue => ({
  path: `/${name}`,
  expectation: `Expected ${supported.map((version) => JSON.stringify(version)).join(" or ")}`
})
