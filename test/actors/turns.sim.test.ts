import { describe } from "vitest"
import { prove } from "../sim/prove.ts"
import { simulate } from "./sim/host.ts"
import { turnWorlds } from "./sim/turnWorlds.ts"

describe("whoever cancels whenever, a turn ends once", () => prove(turnWorlds, simulate))
