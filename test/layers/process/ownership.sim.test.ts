/** Whatever an agent does, and whenever its host is interrupted. */
import { describe } from "vitest"
import { simulate } from "../../sim/processHost.ts"
import { processSessions } from "../../sim/processSessions.ts"
import { processWorlds } from "../../sim/processWorlds.ts"
import { prove } from "../../sim/prove.ts"

describe("every process is owned, and every end is proven", () =>
  prove({ ...processWorlds, ...processSessions }, simulate))
