/** The requests of agents that are questions to a person, by their methods. */
import * as Result from "effect/Result"
import type { QuestionFormRefused } from "../../errors.ts"
import { elicitationForm } from "./elicitation.ts"
import { formRefused, type NativeForm } from "./nativeForm.ts"
import { userInputForm } from "./userInput.ts"

type Adapter = (params: unknown) => Result.Result<NativeForm, QuestionFormRefused>

const adapters: ReadonlyMap<string, Adapter> = new Map([
  ["item/tool/requestUserInput", userInputForm],
  ["tool/requestUserInput", userInputForm],
  ["mcpServer/elicitation/request", elicitationForm],
  ["elicitation/create", elicitationForm]
])

/** Whether a request of the method asks a person. */
export const asksPerson = (method: string): boolean => adapters.has(method)

/** The form of a request. Fails for a method that asks nobody, and for a form that cannot be asked. */
export const questionForm = (method: string, params: unknown): Result.Result<NativeForm, QuestionFormRefused> =>
  adapters.get(method)?.(params) ??
  formRefused([{ path: "/method", expectation: "Expected a method that asks a person" }])
