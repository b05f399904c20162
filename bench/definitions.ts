/**
 * What every bench measures and what it must reach. One row per figure; `npm run bench -- <bench>` judges the figures that
 * `bench/<bench>.ts` returns by this table.
 */
export interface Definition {
  readonly bench: string
  /** Key of the figure in what the bench returns. */
  readonly figure: string
  readonly measures: string
  /** Operations or objects per round. */
  readonly n: number
  readonly goal: number
  readonly direction: "at most" | "at least"
  /** What the figure is measured beside, in the same process and in turns with it. */
  readonly rival?: string
}

export const definitions: ReadonlyArray<Definition> = [
  {
    bench: "actor",
    figure: "askMicros",
    measures: "microseconds of main-thread processor time per ask, one after the other, without a deadline, best round",
    n: 40_000,
    goal: 1.5,
    direction: "at most"
  },
  {
    bench: "actor",
    figure: "askDeadlineMicros",
    measures: "the same with a deadline of 30 seconds on each ask",
    n: 40_000,
    goal: 2.5,
    direction: "at most"
  },
  {
    bench: "actor",
    figure: "askVsPromise",
    measures: "time per ask as a multiple of the rival's in the same round, median",
    n: 40_000,
    goal: 12,
    direction: "at most",
    rival: "a mailbox of promises in plain JavaScript: an array, one async loop, no bound, no stop, no supervision"
  },
  {
    bench: "actor",
    figure: "actorBytes",
    measures: "heap bytes per idle actor, registry entry and owner's finalizer included, behaviour of one handler",
    n: 10_000,
    goal: 4096,
    direction: "at most"
  },
  {
    bench: "codec",
    figure: "codecVsSdk",
    measures:
      "the rival's processor time as a multiple of ours: session/update of 312 bytes in 64 KiB pieces from memory, read up to the update",
    n: 200_000,
    goal: 3,
    direction: "at least",
    rival: "the ACP SDK: ndJsonStream and client() with a session/update handler"
  },
  {
    bench: "codec",
    figure: "codecVsFloor",
    measures: "our processor time for the same frames as a multiple of the rival's",
    n: 200_000,
    goal: 2,
    direction: "at most",
    rival: "Buffer.indexOf, Buffer.toString and JSON.parse per line, nothing else"
  },
  {
    bench: "codec",
    figure: "consumerVsSdk",
    measures:
      "the rival's processor time as a multiple of ours, for the same frames up to the consumer of a turn's events",
    n: 200_000,
    goal: 1.3,
    direction: "at least",
    rival: "the ACP SDK: ndJsonStream and client() with a session/update handler"
  },
  {
    bench: "journal",
    figure: "journalVsSqlite",
    measures:
      "durable events per second, of 8 turns that append 64 at a time, each stored before it is delivered, as a multiple of the rival's",
    n: 100_000,
    goal: 0.6,
    direction: "at least",
    rival: "the same rows inserted bare, as many in one transaction, into a SQLite file with the same settings"
  },
  {
    bench: "journal",
    figure: "endToEndVsSdk",
    measures:
      "the rival's time as a multiple of ours: session/update of 312 bytes from memory, up to whoever reads the log in a SQLite file, adjacent pieces joined",
    n: 200_000,
    goal: 1,
    direction: "at least",
    rival: "the ACP SDK: ndJsonStream and client() with a session/update handler, nothing kept"
  },
  {
    bench: "turn",
    figure: "warmTurnMs",
    measures:
      "milliseconds that a turn of five updates takes longer, from the prompt to its terminal event, in a session that has had 400",
    n: 200,
    goal: 2,
    direction: "at most",
    rival: "a script on the same agent over plain pipes"
  },
  {
    bench: "turn",
    figure: "firstEventMs",
    measures: "milliseconds that the first event of the same turns comes later",
    n: 200,
    goal: 1,
    direction: "at most",
    rival: "the same script, its first update"
  },
  {
    bench: "turn",
    figure: "cancelMs",
    measures: "milliseconds that a cancel in mid-stream takes longer, up to the terminal event",
    n: 40,
    goal: 5,
    direction: "at most",
    rival: "the same script, up to the response"
  },
  {
    bench: "turn",
    figure: "coldOverheadMs",
    measures:
      "milliseconds that start, handshake, session and one prompt take longer in a process that has opened before, on the slower of the two backends",
    n: 15,
    goal: 15,
    direction: "at most",
    rival: "the same script"
  },
  {
    bench: "turn",
    figure: "updatesPerSecond",
    measures: "updates of one turn from a process to the consumer of its events, none lost",
    n: 200_000,
    goal: 200_000,
    direction: "at least"
  },
  {
    bench: "turn",
    figure: "floodVsBare",
    measures: "time that the same flood takes with us as a multiple of the rival's",
    n: 200_000,
    goal: 2,
    direction: "at most",
    rival: "a script on the same agent over plain pipes: split and JSON.parse, nothing kept"
  },
  {
    bench: "turn",
    figure: "stallGrowthMiB",
    measures:
      "MiB of heap that an agent with a million updates costs while its consumer stands still; the cancel must still end the turn",
    n: 1_000_000,
    goal: 32,
    direction: "at most"
  },
  {
    bench: "prp",
    figure: "openVsParse",
    measures:
      "processor time to judge a parsed event of open objects (a piece of an agent's text) as a multiple of the rival's",
    n: 100_000,
    goal: 1,
    direction: "at most",
    rival: "JSON.parse of the same event's text"
  },
  {
    bench: "prp",
    figure: "openVsZod",
    measures: "the same as a multiple of the rival's",
    n: 100_000,
    goal: 1,
    direction: "at most",
    rival: "safeParse of an equivalent schema of Zod 4"
  },
  {
    bench: "prp",
    figure: "closedVsParse",
    measures:
      "processor time to judge a parsed event with a closed payload (the end of a tool) as a multiple of the rival's",
    n: 100_000,
    goal: 2,
    direction: "at most",
    rival: "JSON.parse of the same event's text"
  },
  {
    bench: "cli",
    figure: "cliStartMs",
    measures: "milliseconds of wall time for `greenroom --version` from the sources",
    n: 10,
    goal: 500,
    direction: "at most",
    rival: "an empty program of the same Node"
  }
]
