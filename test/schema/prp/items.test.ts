import { describe, expect, it } from "@effect/vitest"
import { digestOf } from "../../../src/schema/identity.ts"
import { limits } from "../../../src/schema/limits.ts"
import { ended, feed, feedTurn, message, payloadsOf, thought, toolCall, turnState, types, update } from "./feed.ts"

const chunk = (content: unknown) => ({ sessionUpdate: "agent_message_chunk", content })

const textsOf = (drafts: Parameters<typeof payloadsOf>[0]) =>
  payloadsOf(drafts, "item.delta").map((payload) => payload.text)

describe("message chunks", () => {
  it("start one item, stream into it and complete it with the whole text", () => {
    const { drafts, state } = feed(
      turnState(),
      ...["Hello ", "from ", "here."].map((text) => update(message(text))),
      ended("completed")
    )
    const about = { turnId: "t1", itemId: "t1.item-1" }
    const kind = "assistant_message"
    expect(drafts).toStrictEqual([
      { eventType: "item.started", priority: 1, payload: { kind, text: "" }, ...about },
      { eventType: "item.delta", priority: 2, payload: { kind, text: "Hello " }, ...about },
      { eventType: "item.delta", priority: 2, payload: { kind, text: "from " }, ...about },
      { eventType: "item.delta", priority: 2, payload: { kind, text: "here." }, ...about },
      {
        eventType: "item.completed",
        priority: 1,
        payload: { kind, text: "Hello from here.", textCharacters: 16, textTruncated: false, status: "completed" },
        ...about
      }
    ])
    expect(state).toMatchObject({ sawMessage: true, sawThought: false, sawTool: false, sawPlan: false })
  })

  it("end an item when the kind or the message id changes, and not at a tool call", () => {
    const { drafts } = feed(
      turnState(),
      update(thought("hm")),
      update(message("warning")),
      update(message("a", "m1")),
      update(toolCall("call_1")),
      update(message("b", "m1")),
      update(message("c", "m2")),
      ended("completed")
    )
    expect(payloadsOf(drafts, "item.completed").map(({ kind, text }) => [kind, text])).toStrictEqual([
      ["reasoning", "hm"],
      ["assistant_message", "warning"],
      ["assistant_message", "ab"],
      ["assistant_message", "c"]
    ])
    expect(payloadsOf(drafts, "item.started").map(({ messageId }) => messageId)).toStrictEqual([
      undefined,
      undefined,
      "m1",
      "m2"
    ])
    const ids = drafts.filter((draft) => draft.eventType === "item.started").map((draft) => draft.itemId)
    expect(new Set(ids).size).toBe(4)
  })

  it("are not ended by usage, and a bad message id counts as none", () => {
    const { drafts } = feedTurn(
      message("a"),
      { sessionUpdate: "usage_update", used: 1, size: 2 },
      { ...message("b"), messageId: 7 },
      { ...message("c"), messageId: null }
    )
    expect(types(drafts)).toStrictEqual(["item.started", "item.delta", "usage.reported", "item.delta", "item.delta"])
  })

  it("start an item but are no reply when they are empty", () => {
    const { drafts, state } = feedTurn(message(""))
    expect(types(drafts)).toStrictEqual(["item.started"])
    expect(state.sawMessage).toBe(false)
    expect(feedTurn(message(""), message("x")).state.sawMessage).toBe(true)
  })

  it("echo nothing of the user, whose message ends what the agent said before", () => {
    const { drafts, state } = feedTurn({ ...message("prompt"), sessionUpdate: "user_message_chunk" })
    expect(drafts).toStrictEqual([])
    expect(state.sawMessage).toBe(false)
    const replayed = feedTurn(message("a"), { ...message("prompt"), sessionUpdate: "user_message_chunk" }, message("b"))
    expect(payloadsOf(replayed.drafts, "item.completed").map(({ text }) => text)).toStrictEqual(["a"])
    expect(payloadsOf(replayed.drafts, "item.started")).toHaveLength(2)
  })

  it("name content that is not text and carry it whole", () => {
    const image = chunk({ type: "image", data: "AAAA", mimeType: "image/png", uri: null })
    const resource = chunk({ type: "resource", resource: { uri: "file:///x", text: "t", mimeType: "text/plain" } })
    const later = chunk({ type: "hologram", name: "x".repeat(300) })
    const { drafts, state } = feedTurn(image, resource, later)
    expect(types(drafts)).toStrictEqual(["item.started", "item.delta", "item.delta", "item.delta"])
    expect(payloadsOf(drafts, "item.delta").map((payload) => payload.content)).toStrictEqual([
      { type: "image", mimeType: "image/png", digest: digestOf("\0\0\0") },
      { type: "resource", mimeType: "text/plain", uri: "file:///x", digest: digestOf("t") },
      { type: "hologram", name: "x".repeat(240) }
    ])
    expect(drafts.slice(1).map((draft) => draft.debug?.["native"])).toStrictEqual([image, resource, later])
    expect(state.sawMessage).toBe(true)
  })

  it("carry what they say beyond their text, once", () => {
    const plain = feedTurn(message("a", "m"), { ...message("b", "m"), _meta: null })
    expect(plain.drafts.filter(({ debug }) => debug !== undefined)).toStrictEqual([])
    const long = "m".repeat(limits.nameCharactersMax + 1)
    const more = [
      { ...message("a"), _meta: { x: 1 } },
      { ...message("a"), novel: false },
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "a", annotations: { priority: 1 } } },
      { ...message("a"), messageId: 7 },
      message("a", long),
      { ...message("x".repeat(limits.deltaCharactersMax + 1)), _meta: { x: 1 } },
      { ...message(""), _meta: { x: 1 } },
      { ...message("\ud83d"), _meta: { x: 1 } }
    ]
    for (const native of more) {
      const { drafts } = feedTurn(message("before"), native)
      const carriers = drafts.filter(({ debug }) => debug !== undefined)
      expect(carriers).toMatchObject([{ eventType: "item.delta", debug: { native } }])
      expect(textsOf(drafts).join("")).toBe(`before${native.content.text === "\ud83d" ? "" : native.content.text}`)
    }
    expect(feedTurn({ ...message(""), _meta: { x: 1 } }).state.sawMessage).toBe(false)
  })

  it("have no credentials in the address of what they link to, and no content in it", () => {
    const contents = ["https://u:p4ssw0rd@host/a?token=s3cretvalue", "data:text/plain,hello"].map((uri) => {
      const { drafts } = feedTurn(chunk({ type: "resource_link", name: "n", title: "T", size: 5, uri }))
      return payloadsOf(drafts, "item.delta")[0]?.content
    })
    const link = { type: "resource_link", name: "n", title: "T", sizeBytes: 5 }
    expect(contents).toStrictEqual([
      { ...link, uri: "https://[REDACTED]@host/a?token=[REDACTED]" },
      { ...link, digest: digestOf("data:text/plain,hello") }
    ])
  })

  it("join a character that came in two halves", () => {
    const { drafts } = feed(turnState(), update(message("a\ud83d")), update(message("\ude00b")), ended("completed"))
    expect(textsOf(drafts)).toStrictEqual(["a", "😀b"])
    expect(payloadsOf(drafts, "item.completed")[0]?.text).toBe("a😀b")
  })

  it("replace half a character that stays alone", () => {
    const { drafts } = feed(
      turnState(),
      update(message("\ud83d")),
      update(message("x")),
      update(message("y\ud83d")),
      ended("completed")
    )
    expect(textsOf(drafts)).toStrictEqual(["\ufffdx", "y", "\ufffd"])
    expect(payloadsOf(drafts, "item.completed")[0]?.text).toBe("\ufffdxy\ufffd")
  })

  it("become several deltas beyond the bound of one", () => {
    const bound = limits.deltaCharactersMax
    expect(textsOf(feedTurn(message("😀".repeat(bound))).drafts)).toHaveLength(1)
    const beyond = "😀".repeat(bound) + "x"
    const texts = textsOf(feedTurn(message(beyond)).drafts)
    expect(texts.map((text) => text.length)).toStrictEqual([2 * bound, 1])
    expect(texts.join("")).toBe(beyond)
  })

  it("complete with the text up to its bound and say that there was more", () => {
    const bound = limits.itemTextCharactersMax
    const whole = feed(turnState(), update(message("é".repeat(bound))), ended("completed"))
    expect(payloadsOf(whole.drafts, "item.completed")[0]).toMatchObject({ textCharacters: bound, textTruncated: false })
    const more = feed(
      turnState(),
      update(message("é".repeat(bound - 1))),
      update(message("😀z")),
      update(message("!")),
      ended("completed")
    )
    const [payload] = payloadsOf(more.drafts, "item.completed")
    expect(payload).toMatchObject({ textCharacters: bound + 2, textTruncated: true })
    expect(payload?.text).toBe("é".repeat(bound - 1) + "😀")
    expect(textsOf(more.drafts).join("")).toBe("é".repeat(bound - 1) + "😀z!")
  })
})

describe("the end of a turn", () => {
  it("says of an open item that it was interrupted or failed, and by whom", () => {
    const cancelled = feed(turnState(), update(message("half")), ended("cancelled"))
    expect(cancelled.drafts.at(-1)).toMatchObject({
      eventType: "item.completed",
      turnId: "t1",
      payload: { text: "half", status: "interrupted", closedBy: "runner" }
    })
    const failed = feed(turnState(), update(thought("half")), ended("failed"))
    expect(failed.drafts.at(-1)).toMatchObject({
      eventType: "item.failed",
      payload: { kind: "reasoning", text: "half", status: "failed", closedBy: "runner" }
    })
  })

  it("makes late text a notice outside the turn and opens nothing", () => {
    const late = message("Info: Operation cancelled by user")
    const { drafts, state } = feed(
      turnState(),
      update(message("a")),
      ended("cancelled"),
      update(late),
      ended("completed")
    )
    expect(drafts.at(-1)).toMatchObject({
      eventType: "provider.notice.recorded",
      payload: { category: "late_update", scope: "session" },
      debug: { native: late }
    })
    expect(drafts.at(-1)).not.toHaveProperty("turnId")
    expect(state.item).toBeUndefined()
  })

  it("leaves updates about the session what they are", () => {
    const { drafts } = feed(
      turnState(),
      ended("completed"),
      update({ sessionUpdate: "session_info_update", title: "t" })
    )
    expect(types(drafts)).toStrictEqual(["session.updated"])
    expect(drafts[0]).not.toHaveProperty("turnId")
  })
})
