/** Why a runner does not serve, or is not there for who wants something of it, in words. */
import type { ConnectRefused, ListenRefused, StoreFailed, StoreRefused, TokenFolderUnusable } from "../schema/errors.ts"
import type { ConnectionLost } from "../services/RunnerClient.ts"
import { shownLine } from "./shownText.ts"

type Failure = ConnectionLost | ConnectRefused | ListenRefused | StoreFailed | StoreRefused | TokenFolderUnusable

export const serveWords = (error: Failure): string => shownLine(wordsOf(error))

const wordsOf = (error: Failure): string => {
  switch (error._tag) {
    case "ConnectRefused":
      return `no runner answers at ${error.address} (${error.reason}): start one with \`greenroom serve\``
    case "FrameChannelClosed":
      return `the connection to the runner is lost: ${error.reason}`
    case "ListenRefused":
      return error.reason === "in_use"
        ? `another runner listens at ${error.address}`
        : `cannot listen at ${error.address} (${error.reason}): ${error.detail}`
    case "RunnerRefused":
      return `the runner ended the connection (${error.code}): ${error.reason}`
    case "StoreFailed":
      return `the journal could not be read: ${error.reason}`
    case "StoreRefused":
      return error.reason === "locked"
        ? `another runner uses ${error.path}`
        : `${error.path} cannot be used as a journal (${error.reason}): ${error.detail}`
    case "TokenFolderUnusable":
      return `the folder of tokens ${error.path} cannot be used (${error.reason}): ${error.detail}`
  }
}
