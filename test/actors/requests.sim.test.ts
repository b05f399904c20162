import { describe } from "vitest"
import { prove } from "../sim/prove.ts"
import { simulate } from "./sim/host.ts"
import { requestWorlds } from "./sim/requestWorlds.ts"

describe("whoever settles it whenever, a request is answered once", () => prove(requestWorlds, simulate))
