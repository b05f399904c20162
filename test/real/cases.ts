/** What is said of every agent: the rows of the table. A scene looks at some of them. */
export const cases = [
  "answers with text",
  "uses the model it was started with",
  "sees an image",
  "asks before a command",
  "asks before an edit",
  "names the kind of effect it asks for",
  "does what was allowed",
  "does nothing that a person denied",
  "does nothing that the policy denied",
  "goes on behind a denial",
  "is interrupted in mid-stream",
  "lets go of its model at a cancel",
  "is interrupted while it asks",
  "does nothing that was asked for in a cancelled turn",
  "serves the next prompt in the same process",
  "is interrupted in the middle of a command",
  "ends its command at a cancel",
  "closes its tool calls at a cancel",
  "does with tool calls at a cancel what its traits say",
  "fails its turn with the signal that killed it",
  "has its turn cancelled by a close in the middle of a command",
  "ends at the end of its input",
  "ends every turn once",
  "leaves nothing behind"
] as const

export type CaseName = (typeof cases)[number]
