import { describe } from "vitest"
import { prove } from "../sim/prove.ts"
import { simulate } from "./sim/host.ts"
import { lifeWorlds } from "./sim/lifeWorlds.ts"

describe("whatever ends it whenever, nothing is left", () => prove(lifeWorlds, simulate))
