import { describe } from "vitest"
import { prove } from "./sim/prove.ts"
import { turnWorlds } from "./sim/turnWorlds.ts"

describe("whoever cancels whenever, a turn ends once", () => prove(turnWorlds))
