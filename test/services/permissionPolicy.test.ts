import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { limits } from "../../src/schema/limits.ts"
import {
  OptionKind,
  PermissionPolicy,
  type PermissionRequest,
  RequestKind,
  type RequestTarget
} from "../../src/schema/request.ts"
import { decide, type Decision, type PolicyContext } from "../../src/services/permissionPolicy.ts"

const inside: RequestTarget = { _tag: "Inside", path: "a.txt" }

/** Options are named after their kinds; `kind#n` is the n-th of a kind. */
const request = (
  kinds: ReadonlyArray<string>,
  kind: RequestKind = "read",
  target: RequestTarget = inside
): PermissionRequest => ({
  requestId: "r1",
  turnId: "t1",
  sessionId: "s1",
  nativeId: 0,
  toolCallId: "c1",
  title: "Read a.txt",
  kind,
  target,
  options: kinds.map((id) => {
    const word = id.split("#")[0]
    return { optionId: id, nativeOptionId: id, name: id, kind: Schema.is(OptionKind)(word) ? word : "unknown" }
  }),
  locations: [],
  content: [],
  raw: null
})

const trusted: PolicyContext = {
  toolKindTrusted: true,
  canAsk: true,
  workspaceRealPath: "/ws",
  targetRealPath: "/ws/a.txt"
}

const word = (decision: Decision): string => {
  switch (decision._tag) {
    case "Allow":
      return `allow ${decision.optionId}`
    case "Deny":
      return `${decision.by} denies ${decision.optionId ?? "cancelled"}`
    case "Ask":
      return "ask"
    case "Refuse":
      return `refuse: ${decision.reason}`
  }
}

const usual = ["allow_once", "allow_always", "reject_once"]
const policies = PermissionPolicy.literals

/** Options, then what each policy makes of an edit: asking ones (ask, approve-reads), the same headless, approve-all, deny-all. */
const edits: ReadonlyArray<readonly [ReadonlyArray<string>, string, string, string, string]> = [
  [usual, "ask", "headless denies reject_once", "allow allow_once", "policy denies reject_once"],
  [
    ["allow_always", "allow_once", "reject_always", "reject_once"],
    "ask",
    "headless denies reject_once",
    "allow allow_once",
    "policy denies reject_once"
  ],
  [
    ["allow_always", "reject_always"],
    "ask",
    "headless denies reject_always",
    "allow allow_always",
    "policy denies reject_always"
  ],
  [["allow_once"], "ask", "headless denies cancelled", "allow allow_once", "policy denies cancelled"],
  [["reject_once"], "ask", "headless denies reject_once", "ask", "policy denies reject_once"],
  [
    ["allow_once#1", "allow_once#2", "reject_once#1", "reject_once#2"],
    "ask",
    "headless denies reject_once#1",
    "allow allow_once#1",
    "policy denies reject_once#1"
  ],
  [["allow_for_a_week", "never"], "ask", "headless denies cancelled", "ask", "policy denies cancelled"],
  [
    ["allow_for_a_week", "allow_once", "never"],
    "ask",
    "headless denies cancelled",
    "allow allow_once",
    "policy denies cancelled"
  ],
  [[], "ask", "headless denies cancelled", "ask", "policy denies cancelled"]
]

const none: RequestTarget = { _tag: "None", reason: "no place is named" }

/** What `approve-reads` makes of the usual options. */
const reads: ReadonlyArray<readonly [string, RequestKind, RequestTarget, Partial<PolicyContext>, string]> = [
  ["a read in the workspace", "read", inside, {}, "allow allow_once"],
  ["a search in the workspace", "search", inside, {}, "allow allow_once"],
  [
    "a search of the whole workspace",
    "search",
    { _tag: "Inside", path: "." },
    { targetRealPath: "/ws" },
    "allow allow_once"
  ],
  ["a read whose kind is not to be trusted", "read", inside, { toolKindTrusted: false }, "ask"],
  ["a read of no certain place", "read", none, {}, "ask"],
  ["a read through a link to outside", "read", inside, { targetRealPath: "/etc/passwd" }, "ask"],
  ["a read through a link to a sibling", "read", inside, { targetRealPath: "/ws2/a.txt" }, "ask"],
  ["a read of nothing that exists", "read", inside, { targetRealPath: undefined }, "ask"],
  ["a read in a workspace whose place cannot be told", "read", inside, { workspaceRealPath: undefined }, "ask"],
  [
    "a read in a workspace under a link",
    "read",
    inside,
    { workspaceRealPath: "/real/ws", targetRealPath: "/real/ws/a.txt" },
    "allow allow_once"
  ],
  ["a read without anybody to ask", "read", inside, { canAsk: false }, "allow allow_once"],
  ["an edit without anybody to ask", "edit", inside, { canAsk: false }, "headless denies reject_once"]
]

describe("permissionPolicy", () => {
  it.each(edits.map((row) => [...row] as const))(
    "decides on an edit with the options %j",
    (kinds, asking, headless, all, nothing) => {
      const edit = request(kinds, "edit")
      const alone = { ...trusted, canAsk: false }
      assert.strictEqual(word(decide("ask", edit, trusted)), asking)
      assert.strictEqual(word(decide("ask", edit, alone)), headless)
      assert.strictEqual(word(decide("approve-reads", edit, trusted)), asking)
      assert.strictEqual(word(decide("approve-reads", edit, alone)), headless)
      assert.strictEqual(word(decide("approve-all", edit, trusted)), all)
      assert.strictEqual(word(decide("approve-all", edit, alone)), all === "ask" ? headless : all)
      assert.strictEqual(word(decide("deny-all", edit, trusted)), nothing)
      assert.strictEqual(word(decide("deny-all", edit, alone)), nothing)
    }
  )

  it.each(reads.map((row) => [...row] as const))(
    "approve-reads decides on %s",
    (_name, kind, target, context, expected) => {
      assert.strictEqual(
        word(decide("approve-reads", request(usual, kind, target), { ...trusted, ...context })),
        expected
      )
    }
  )

  it.each(RequestKind.literals)("approve-reads lets %s pass only if it is a read or a search", (kind) => {
    const expected = kind === "read" || kind === "search" ? "allow allow_once" : "ask"
    assert.strictEqual(word(decide("approve-reads", request(usual, kind), trusted)), expected)
  })

  it("approve-reads does not allow more than the one read", () => {
    assert.strictEqual(word(decide("approve-reads", request(["allow_always", "reject_once"]), trusted)), "ask")
  })

  it.each(policies)("%s refuses a request that is not valid", (policy) => {
    const refusal = (kinds: ReadonlyArray<string>) => word(decide(policy, request(kinds), trusted))
    assert.strictEqual(refusal(["allow_once", "reject_once", "allow_once"]), "refuse: two options have the same id")
    assert.strictEqual(refusal(["allow_once", ""]), "refuse: an option id is empty or too long")
    const longest = "allow_once#".padEnd(limits.optionIdCharactersMax, "1")
    assert.notMatch(refusal([longest]), /^refuse/)
    assert.strictEqual(refusal([`${longest}1`]), "refuse: an option id is empty or too long")
    const many = Array.from({ length: limits.requestOptionsMax }, (_, n) => `allow_once#${n}`)
    assert.notMatch(refusal(many), /^refuse/)
    assert.strictEqual(refusal([...many, "reject_once"]), "refuse: too many options")
  })

  it("asks somebody only where there is somebody, and chooses only what is offered, for every policy, kind and set of options", () => {
    const kinds = ["allow_once", "allow_always", "reject_once", "reject_always", "strange"]
    for (const policy of policies) {
      for (const kind of RequestKind.literals) {
        for (let set = 0; set < 2 ** kinds.length; set++) {
          for (const canAsk of [true, false]) {
            const offered = kinds.filter((_, n) => (set & (1 << n)) !== 0)
            const decision = decide(policy, request(offered, kind), { ...trusted, canAsk })
            assert.notStrictEqual(decision._tag, "Refuse")
            if (decision._tag === "Ask") assert.isTrue(canAsk)
            if (decision._tag === "Allow")
              assert.include(
                ["allow_once", "allow_always"].filter((id) => offered.includes(id)),
                decision.optionId
              )
            if (decision._tag === "Deny") {
              const rejects = ["reject_once", "reject_always"].filter((id) => offered.includes(id))
              assert.strictEqual(decision.optionId, rejects[0])
            }
            if (policy === "deny-all") assert.strictEqual(decision._tag, "Deny")
          }
        }
      }
    }
  })
})
