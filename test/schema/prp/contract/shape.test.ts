import { describe, expect, it } from "vitest"
import { valuesFit } from "../../../../src/schema/prp/contract/shape.ts"

describe("valuesFit", () => {
  it("counts values at every level, the outermost included", () => {
    const value = { a: [1, { b: null }], c: "x" }
    expect([valuesFit(value, 6), valuesFit(value, 5)]).toEqual([true, false])
  })

  it("reads nothing of a list that is longer than the bound", () => {
    let reads = 0
    const list = new Proxy([1, 2, 3], {
      get: (items, name) => {
        if (name !== "length") reads += 1
        return Reflect.get(items, name)
      }
    })
    expect([valuesFit({ list }, 4), reads]).toEqual([false, 0])
    expect([valuesFit({ list }, 5), reads]).toEqual([true, 3])
  })
})
