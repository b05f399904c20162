/** What a ledger has found, each thing once. */
export type Problem<Name extends string> = (name: Name, detail: string) => void

export class Problems<Name extends string> {
  readonly found: Array<string> = []

  readonly add: Problem<Name> = (name, detail) => {
    const what = `${name}: ${detail}`
    if (!this.found.includes(what)) this.found.push(what)
  }
}
