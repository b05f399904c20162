/** Small bounds, so that they are reached. */
import { describe, vi } from "vitest"
import type * as Limits from "../../src/schema/limits.ts"
import { boundWorlds } from "./sim/boundWorlds.ts"
import { prove } from "../sim/prove.ts"
import { simulate } from "./sim/host.ts"

vi.mock("../../src/schema/limits.ts", async (original) => {
  const { limits } = await original<typeof Limits>()
  return {
    limits: {
      ...limits,
      subscriberEventsMax: 8,
      queueFramesMax: 4,
      pendingInboundRequestsMax: 3,
      queuedPromptsMax: 2,
      rememberedRequestsMax: 2
    }
  }
})

describe("whatever is full, everything goes on once there is room, and ends when it is told to", () =>
  prove(boundWorlds, simulate))
