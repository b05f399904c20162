/**
 * What holds of every run of the runner, whatever the schedule. The ledger checks it; a violation reads `name: detail`.
 *
 * Each has at least one planted bug in `planted.sim.test.ts` that the ledger finds by this name.
 */
export const invariants = {
  submittedFirst: "The first event of a turn is its submission: whoever reads one sees it from its beginning.",
  oneTerminal:
    "A turn has one terminal, however it ends: only the prompt response or the end of its connection ends it.",
  terminalLast: "The terminal is behind every other event of its turn: who has read it has read everything.",
  accounted:
    "Accepted turns are the completed, the failed, the cancelled and those that a living actor owns; all who wait for an outcome hear the one that was recorded.",
  nothingLost:
    "No word of the agent and no event is lost, doubled, out of order or in another turn, but for what a draining turn has counted as undelivered.",
  answeredOnce:
    "A request of the agent is answered once, under its id with its JSON type, or its connection is dead; while it is open, a living actor holds it.",
  recordedAfterWrite: "What is recorded as delivered to the agent was written before: a record is no intention.",
  requestsEndFirst:
    "No request is open when the terminal of its turn is recorded: nobody is asked for a turn that is over.",
  oneCancel: "A turn is cancelled in one frame at most, whoever cancels it and how often.",
  cancelInTime:
    "No cancel frame goes out before its prompt or after the response was taken: one point decides, and an agent is not told to stop what it has finished.",
  addressed: "A prompt and a cancel name the session that the agent gave, and no other.",
  onePrompt: "An agent works on one prompt at a time, and a retired connection gets none.",
  bounded:
    "No mailbox, queue or set of open requests holds more than its bound: pressure reaches the agent's pipe, not our memory.",
  gapless: "The sequence of events counts up by one, so that a reader knows that it has all.",
  closedLast: "Nothing is said of a session after it is closed.",
  noWaitUpwards: "Nobody suspends on an ancestor: a tree in which waiting goes down only has no circle.",
  noDefect: "No actor and no connection dies of a defect that the world did not plant.",
  isolated: "What ends one session ends no other: authority and failure are per connection.",
  heardAtOnce: "Who waits for a connection hears of its death in that moment, not at a deadline.",
  progress: "A run ends: nobody waits for ever, and nothing runs for ever.",
  nothingLeft:
    "After a close nothing is left, within its deadline: no fiber, timer, actor, connection, agent, folder or open request."
} as const

export type InvariantName = keyof typeof invariants

/** The name of the invariant that a violation is of: its own, or that of what `check` finds in every run. */
export const invariantOf = (violation: string): string => {
  if (/^(deadlock|livelock|budget)\b/.test(violation)) return "progress"
  if (/^\d+ (live fibers|timers left)/.test(violation)) return "nothingLeft"
  if (violation.startsWith("defect: ")) return violation.includes(waitUpwards) ? "noWaitUpwards" : "noDefect"
  return violation.split(":")[0]!
}

/** As the kernel calls it. */
export const waitUpwards = "nothing suspends on an ancestor"
