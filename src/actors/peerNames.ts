/**
 * What the journal calls the peers that acknowledge. No id has a slash, so no two tenants share a name; nor do two tokens of one
 * company that reach different runs: what is not for one of them may be for the other.
 */
import { digestOf } from "../schema/identity.ts"
import type { Authority } from "../schema/authority.ts"

type Tenant = Extract<Authority, { _tag: "Tenant" }>

export const peerName = (authority: Authority, name: string): string =>
  authority._tag === "Operator" ? `${operatorPrefix}${name}` : `${companyPrefix(authority)}${reachOf(authority)}${name}`

const reachOf = ({ runIds }: Tenant): string =>
  runIds === null ? "" : `${digestOf([...new Set(runIds)].toSorted().join("/"))}/`

const operatorPrefix = "operator/"

export const companyPrefix = ({ companyId }: Pick<Tenant, "companyId">): string => `company/${companyId}/`

/** Whether events of a run of that company are for this peer. */
export const isPeerOf = (peer: string, companyId: string | null): boolean =>
  peer.startsWith(operatorPrefix) || isPeerOfCompany(peer, companyId)

export const isPeerOfCompany = (peer: string, companyId: string | null): boolean =>
  companyId !== null && peer.startsWith(companyPrefix({ companyId }))
