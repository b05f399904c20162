/** Looking at what a runner said. */
import type { RunnerMessage } from "../../fixtures/agents/harness/wire.ts"

type Message = RunnerMessage["message"]

export type PlayedEvent = Extract<Message, { readonly kind: "event" }>["event"]

export const eventsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<PlayedEvent> =>
  messages.flatMap((message) => (message.kind === "event" ? [message.event] : []))

export const receiptsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<string> =>
  messages.flatMap((message) =>
    message.kind === "command_receipt" ? [`${message.controllerSeq} ${message.status}: ${message.detail}`] : []
  )
