/** What a run proposes, how it ends, and what its session offers: samples of the contract as values of it. */
import * as Result from "effect/Result"
import { decodePrp } from "../../../src/schema/prp/contract/decode.ts"
import type { PrpSchemaId, PrpValue } from "../../../src/schema/prp/contract/kinds.ts"
import { samples } from "./contract/samples.ts"

const sampleOf = <Kind extends PrpSchemaId>(kind: Kind): PrpValue<Kind> =>
  Result.getOrThrow(decodePrp(kind, samples[kind]))

export const capabilities = sampleOf("paperclip.prp.capabilities.v2")
export const result = sampleOf("paperclip.run_result.v1")
export const terminal = sampleOf("paperclip.prp.terminal.v1")
