/** What the journal calls the peers that acknowledge. No id has a slash, so no two tenants share a name. */
import type { Authority } from "../schema/authority.ts"

type Tenant = Extract<Authority, { _tag: "Tenant" }>

export const peerName = (authority: Authority, name: string): string =>
  authority._tag === "Operator" ? `${operatorPrefix}${name}` : `${companyPrefix(authority)}${name}`

const operatorPrefix = "operator/"

export const companyPrefix = ({ companyId }: Pick<Tenant, "companyId">): string => `company/${companyId}/`

/** Whether events of a run of that company are for this peer. */
export const isPeerOf = (peer: string, companyId: string | null): boolean =>
  peer.startsWith(operatorPrefix) || isPeerOfCompany(peer, companyId)

export const isPeerOfCompany = (peer: string, companyId: string | null): boolean =>
  companyId !== null && peer.startsWith(companyPrefix({ companyId }))
