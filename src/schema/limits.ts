/**
 * Every bound of the house, with its reason. A bound is enforced where data enters and tested at the bound and one past it.
 *
 * Sizes are bytes, times are milliseconds, counts are plain numbers; the unit is the last word of the name.
 */

const KiB = 1024
const MiB = 1024 * KiB

export const limits = {
  // The actor kernel

  /** What an answer to an ask repeats of the defect that crashed the actor. */
  defectCharactersMax: 512,

  // Ids

  /** Ids of ours: what PRP v2 admits. */
  idCharactersMax: 160,

  // Frames of an agent

  /** One line of the agent's stdout. Real agents send tool results and replayed histories of tens of MiB on one line. */
  frameBytesMax: 64 * MiB,
  /** Nesting of one frame. Agents stay below 30; a few thousand levels overflow the stack of `JSON.stringify`. */
  frameDepthMax: 512,
  /** Values in one frame, about. It takes up to some seconds to parse so many, and many minutes without a bound. */
  frameValuesMax: 1_048_576,
  /** The buffer of a line that is kept for the next one; a larger one is given back. Almost every line fits. */
  keptLineBytesMax: 64 * KiB,
  /** How much of a chunk is decoded to text at once. Pipes give 64 KiB; beyond that there is no gain, only memory. */
  decodePieceBytesMax: 256 * KiB,
  /** The id or method noted of a line beyond `frameBytesMax`. A request with a longer id cannot be answered. */
  notedValueBytesMax: 4 * KiB,
  /** Lines that are not frames: how many are kept as samples, and how much of each. All are counted. */
  noiseSamplesMax: 8,
  noiseSampleBytesMax: 256,

  // Connections

  /** `initialize` must be answered within this time. An agent that starts in 2 s was seen to take 27 s on a busy machine. */
  initializeMs: 60_000,
  /** A frame to the agent must be taken by the operating system within this time, else the connection is dead. */
  writeMs: 5_000,
  /** The ordered queue of a connection: enough to keep both sides busy, small enough to push back on the agent's pipe. */
  queueFramesMax: 1024,
  /** The same queue in bytes. One larger frame is admitted when the queue is empty, else it could never pass. */
  queueBytesMax: 8 * MiB,
  /** Updates for a session whose id is not known yet (they may arrive before the answer of `session/new`). */
  unknownSessionFramesMax: 256,
  unknownSessionBytesMax: 1 * MiB,
  /** Requests of the agent that are open at once on one connection; the next one is answered `cancelled`. */
  pendingInboundRequestsMax: 64,

  // Processes

  /** One environment entry, and all of them: beyond it the kernel refuses the launch with no useful error. */
  environmentEntryBytesMax: 64 * KiB,
  environmentBytesMax: 256 * KiB,
  /** The anchor of a `namespace` launch must report within this time (it needs about 5 ms), else the backend has failed. */
  anchorReadyMs: 5_000,
  /** An anchor that did not come up says why right before its end; a word that is later than this is not waited for. */
  anchorComplaintMs: 100,
  /** The next anchor is made this long after the last was taken: the launch that took it needs the processor until then. */
  anchorRefillPauseMs: 150,
  /** Pause before a guardian that ended is replaced: one that ends over and over must not burn a processor. */
  guardianReplacePauseMs: 200,
  /** A guardian without markers ends at once when its host lets go of it; the host waits no longer than this. */
  guardianCloseMs: 1_000,
  /** What a ledger keeps of a command, for the operator who reads it. Nothing is started from it. */
  ledgerCommandCharactersMax: 1024,
  /** One listing of `ps`: all processes, each with its environment. A busy machine has some thousands of some KiB. */
  psOutputBytesMax: 64 * MiB,
  /** Entries of a folder of ours that the doctor counts: more than anybody wants to wait for. */
  measuredEntriesMax: 50_000,
  /** Lines of ended launches in a host's ledger, beyond which it is written anew. */
  ledgerDeadLinesMax: 512,
  /** What is kept of stderr. Drained from birth, because an agent blocks once its stderr pipe is full. */
  stderrTailLinesMax: 64,
  stderrTailBytesMax: 16 * KiB,
  /** Shorter values of the environment are no secrets, and words of every text: they are not redacted. */
  redactedValueCharactersMin: 4,
  /** Grace after end of input: two well-behaved adapters need 2.0 to 2.1 s. */
  eofGraceMs: 2_500,
  /** Grace after SIGTERM. */
  termGraceMs: 2_000,
  /** Time for the kernel to take everything down after SIGKILL, before what is left is reported. */
  killGraceMs: 2_000,
  /** Pause between two looks for what is left of a launch: the first, doubled up to the last. */
  sweepPauseMsMin: 2,
  sweepPauseMsMax: 100,
  /** How long output of a process that has exited is still read. A grandchild may hold the pipe open for ever. */
  drainAfterExitMs: 250,
  /** Turns of the event loop that its output is read at least, each good for 64 KiB: what a pipe holds, and more. */
  drainReadTurnsMin: 16,
  /** Output of an ended agent that waits for a slow reader. More than the kernel can hold of what it wrote before its end. */
  drainedBytesMax: 1 * MiB,

  // Providers

  /** The user's file of profiles, the profiles in it, and the words of a command. */
  profileFileBytesMax: 256 * KiB,
  profilesMax: 64,
  commandWordsMax: 256,
  /** A grace in a profile of the user: whoever closes a session waits for it. */
  profileGraceMsMax: 60_000,
  /** Fetching an agent: the largest are 230 MB, on a slow line. What is kept of npm's words about a failure. */
  installMs: 600_000,
  installDetailCharactersMax: 2000,
  /** What is kept of each output of npm, where its one JSON object stands: some KiB. */
  installOutputCharactersMax: 64 * KiB,
  /** What an install left behind that was killed is deleted by a later one when it is this old. */
  installAbandonedMs: 24 * 3_600_000,

  // Sessions and turns

  /** Session set-up fails after this time without any frame of the agent (some agents wait for slow MCP servers). */
  sessionSetupQuietMs: 120_000,
  /** MCP servers of one session, the entries of each (arguments, variables, headers), and one of their texts. */
  mcpServersMax: 64,
  mcpServerEntriesMax: 256,
  mcpServerTextBytesMax: 64 * KiB,
  /** Prompts that wait for their turn in one session. */
  queuedPromptsMax: 64,
  /** Turns whose outcome a session still tells, queued and running ones included. */
  rememberedTurnsMax: 1024,
  /** Requests of the agent that have ended and of which a session still tells why an answer comes too late. */
  rememberedRequestsMax: 1024,
  /** A turn without any frame of its session for this time is reported as stalled (never ended for it). */
  stalledMs: 60_000,
  /** A cancelled turn must be answered within this time, else its connection is retired, and the session with it. An agent
   * that was seen to need longer has a grace of its own in its traits. */
  cancelMs: 2_000,

  // Prompts

  /** Blocks of one prompt. */
  promptPartsMax: 64,
  /** One text block of a prompt, and one image or embedded file before base64. */
  promptTextBytesMax: 8 * MiB,
  promptFileBytesMax: 16 * MiB,
  /** The path of a linked or embedded file: what Linux admits. */
  promptPathCharactersMax: 4096,

  // Requests of the agent

  /** Options of one permission request, their ids and names. A request beyond the first two is not valid. */
  requestOptionsMax: 32,
  optionIdCharactersMax: 160,
  optionNameCharactersMax: 500,
  /** What is shown of a request's title and of its content, and how many blocks and locations of it. */
  requestTitleCharactersMax: 4000,
  requestContentCharactersMax: 64 * KiB,
  requestContentBlocksMax: 16,
  requestLocationsMax: 16,
  /** A target that a policy or a person decides on must be readable at a glance. */
  targetPathCharactersMax: 1024,
  /** Values of a request's raw input that are looked through for paths; with more of them it has no certain target. */
  targetScanValuesMax: 256,

  // Events

  /** What waits for one subscriber. A turn waits with it, so it only has to level out a reader's pauses. */
  subscriberEventsMax: 1024,
  subscriberBytesMax: 4 * MiB,
  /** One piece of streamed text in an event; a longer chunk becomes several. Keeps an event within a PRP frame of 1 MiB. */
  deltaCharactersMax: 64 * KiB,
  /** The whole text of an item in the event that completes it. The deltas before it are complete whatever its length. */
  itemTextCharactersMax: 1 * MiB,
  /** What PRP v1 admits as a name (of a model, a type, a reason, the id of a turn or an item), and as that of a provider. */
  nameCharactersMax: 240,
  providerNameCharactersMax: 80,
  /** What PRP v1 admits as a point in time. */
  timestampCharactersMax: 64,
  /** What PRP v1 admits in its typed payloads: a short text, the steps of a plan, the output of a tool (its end is kept). */
  shortTextCharactersMax: 4000,
  planStepsMax: 256,
  toolOutputCharactersMax: 64 * KiB,
  /** Likewise: the target of a tool, and of a change its files, their paths and the diff of each. */
  toolTargetCharactersMax: 4096,
  changedFilesMax: 2000,
  changedPathCharactersMax: 1024,
  fileDiffCharactersMax: 256 * KiB,
  /** Likewise: the id of a change and the reference to its patch, and the category of a notice. */
  changeSetIdCharactersMax: 200,
  patchReferenceCharactersMax: 2048,
  noticeCategoryCharactersMax: 160,
  /** All diffs of one change; what comes after has none. A set of 2 000 full diffs would be half a GiB. */
  changeSetDiffCharactersMax: 256 * KiB,
  /** Old and new texts of a change together; a file beyond it has no diff, and unknown counts. Comparing costs time. */
  comparedTextCharactersMax: 2 * MiB,
  /** Tool calls of a turn that are open at once, and ended ones that are remembered to know a late update. */
  toolCallsMax: 256,
  /** Files and media that one tool call points to, each of which is an event; the others are counted. */
  toolReferencesMax: 256,
  /** What an event shows of the input of a tool, as JSON without secrets: all of it, and each text in it, so that one long
   * text does not hide the others. */
  toolInputCharactersMax: 3_800,
  toolInputTextCharactersMax: 1_000,
  /** Likewise: how deep it goes, and how many entries of one list or object it shows. */
  toolInputDepthMax: 16,
  toolInputEntriesMax: 64,
  /** Entries of a list (options, commands) in an event about the session. */
  sessionListEntriesMax: 256,

  // The PRP contract

  /** Issues that a rejection names, and how much it says of each. Whoever sent the value sees them, and so does a log. */
  prpIssuesMax: 32,
  prpPathCharactersMax: 240,
  prpExpectationCharactersMax: 240,
  /** Values in a rejected value that is looked through for all its issues; in a larger one only the first is named. */
  prpExplainedValuesMax: 16 * 1024,
  /** What the contract admits as a label: a role, a media type, the event and scope of a hook, a required claim. */
  prpLabelCharactersMax: 160,
  /** Likewise: a version and the package of a provider, the name of its resource. */
  providerVersionCharactersMax: 120,
  endpointArnCharactersMax: 2048,
  /** Likewise: the typed families of events that a runner offers. */
  eventFamiliesMax: 64,
  /** Likewise: the summary of a result. */
  resultSummaryCharactersMax: 12_000,
  /** Likewise: the reason of a goal capability. */
  goalReasonCharactersMax: 1000,
  /** Likewise: of a question set its questions, the options of each, its title and labels, and one answer in words. */
  questionsMax: 64,
  questionOptionsMax: 128,
  questionTitleCharactersMax: 1000,
  submitLabelCharactersMax: 200,
  /** A whole question set that an agent's form becomes, as JSON: what a host is known to show. */
  questionSetBytesMax: 196 * KiB,
  answerCharactersMax: 100_000,
  answerPatternCharactersMax: 1000,
  /** Likewise: the native method that a request came from. */
  originMethodCharactersMax: 500,
  /** Likewise: the sources and addresses of a research, the children of a delegation, the classes of a verification. */
  researchSourcesMax: 64,
  urlCharactersMax: 8192,
  delegationChildrenMax: 64,
  verificationClassesMax: 32,
  memoryReferenceCharactersMax: 4096,
  /** Likewise: the name of a referenced file and its preview. */
  displayNameCharactersMax: 255,
  filePreviewCharactersMax: 256 * KiB,
  /** Likewise: the name and the description of a fixture. Ours alone: the files of a manifest. */
  fixtureNameCharactersMax: 120,
  fixtureDescriptionCharactersMax: 1000,
  manifestFilesMax: 4096,
  /** Missing sequence numbers that a gap lists; the others are counted. */
  listedMissingMax: 256,
  /** Commands that a runner remembers, and the result of each. An older command is refused, never carried out again. */
  commandHistoryMax: 128,
  commandResultBytesMax: 64 * KiB,
  /** What a pattern of a question set comes to when its repetitions are written out, and the steps of one check against it.
   * The second is some tens of milliseconds. */
  answerPatternStatesMax: 4096,
  answerPatternStepsMax: 2_000_000,

  // The durable journal

  /** Events that are kept until they are acknowledged; of these the last part is for what cannot wait. */
  journalBytesMax: 16 * MiB,
  journalReserveBytes: 1 * MiB,
  /** Events of one commit: a larger one would hold up everything else for too long. */
  commitEventsMax: 1024,
  /** What a reader of the journal gets at once. One larger event comes alone. */
  journalReadEventsMax: 256,
  journalReadBytesMax: 1 * MiB,
  /** Peers that acknowledge. Each may hold up everything. */
  journalPeersMax: 64,

  // The transport

  /** A frame to the runner: what PRP has as its default. Commands are far below, but for prompts. */
  transportFrameBytesMax: 1 * MiB,
  /** A frame from the runner: the largest event that the log takes, and what is around it. */
  runnerFrameBytesMax: 16 * MiB + 64 * KiB,
  /** Whoever connects says who it is within this time, and whoever it connects to answers within it. */
  helloMs: 5_000,
  /** How often a listener looks for handshakes that take too long. */
  handshakeCheckMs: 500,
  /** A side that closes still sends what it has for this long. */
  frameChannelCloseMs: 2_000,
  /** Runs that a welcome shows, the newest, and their size; the others are counted. */
  welcomeRunsMax: 256,
  welcomeRunsBytesMax: 512 * KiB,
  /** Commands of one connection that are not answered yet; the next one is not read before. */
  commandsInFlightMax: 64,
  /** What is read of the log at once must be taken by an observer within this time. */
  observerWriteMs: 60_000,
  /** Peers of one company: others need some of those that the journal has. */
  companyPeersMax: 8,
  /** How often a client numbers a command anew when others send to the same run. */
  commandRenumberingsMax: 4,
  /** Connections of one listener. One more is closed at once. */
  transportConnectionsMax: 64,
  /** The path of a unix socket, without the end mark: what Linux has room for, and what macOS has. */
  socketPathBytesMax: 107,
  socketPathBytesMaxOnMac: 103,

  /** Tokens that are good at once, how long one may be, and the runs that one names. */
  tokensMax: 1024,
  tokenTtlMsMax: 30 * 24 * 3_600_000,
  tokenRunIdsMax: 256,
  /** The file of a token: as many ids as it may name, and what is around them. */
  tokenFileBytesMax: 64 * KiB,
  /** A revocation is noticed within this time. */
  tokenPollMs: 1_000,

  // Runs of control planes

  /** Runs that have not ended. What a restart says of all of them must fit into the reserve of a journal that is full. */
  liveRunsMax: 128,
  /** Runs that have ended and are still told of. A run id may be used again when it is forgotten. */
  rememberedRunsMax: 1024,
  /** A run without an agent, prepared or suspended, ends when nobody has opened it for so long. */
  idleRunMs: 24 * 3_600_000,
  /** How long the end of the runner waits for the acknowledgement of the reply to the command that asked for it. */
  lifecycleAckMs: 2_000,

  // The command

  /** The command: a Ctrl-C that arrives a second time within this time is the same one, passed on by a parent (npm, npx). */
  interruptRepeatMsMin: 250,
  /** After a signal or a timeout, how long the rest of the output waits for a slow reader. */
  outputDrainMs: 2_000,
  /** A key that comes this soon after a question was shown was not meant for it. */
  questionQuietMs: 200,
  /** Keys that were typed and not yet looked at; more of them are dropped. A person answers with one. */
  waitingKeysMax: 16,
  /** How often the line that shows what runs is drawn anew. */
  spinnerMs: 100,
  /** Lines shown of the diff of a change, of the output of a tool (the end), and of a question. JSON output has all. */
  shownDiffLinesMax: 40,
  shownOutputLinesMax: 8,
  shownQuestionLinesMax: 30,
  /** Characters shown of one line of a tool, a plan step or a note, and of a thought. */
  shownLineCharactersMax: 400,
  shownThoughtCharactersMax: 4_000,
  /** A file that `prp` judges or reduces, and the refused values of it that are told; the others are counted. */
  prpInputBytesMax: 64 * MiB,
  prpRefusalsToldMax: 100,
  /** The demo model must name its address within this time. */
  demoModelReadyMs: 10_000,

  // The programs

  /** The bundled agent: a file that it reads or edits, files that it lists, output of a command that it keeps (the end),
   * and updates of a session that it remembers. */
  bundledAgentFileBytesMax: 256 * KiB,
  bundledAgentFilesListedMax: 50,
  bundledAgentOutputCharactersMax: 32 * KiB,
  bundledAgentHistoryUpdatesMax: 1000,
  /** How long it still reads the output of a command that has ended: what that left behind may hold the pipe for ever. */
  bundledAgentDrainMs: 100,
  /** The demo model: one request (agents send their whole history), and entries of its log (the last ones). */
  demoModelRequestBytesMax: 64 * MiB,
  demoModelLogEntriesMax: 1000
} as const
