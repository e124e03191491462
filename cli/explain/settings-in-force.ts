/**
 * The policies as each function goes by them. A policy that cannot be read is in force as it was when it could be read last. That version
 * stands in Curfew's table. Without the table the explanation says that it is not known.
 */
import { DRAIN, DRAIN_OWNER } from '../../functions/drain/explain.ts';
import { FINALIZER_OWNER, TERMINATION_BLOCK } from '../../functions/finalizer/explain.ts';
import { GRACE_PERIOD_OWNER } from '../../functions/grace-period/explain.ts';
import { REPAIR_BLOCKS, REPAIR_OWNER } from '../../functions/repair/explain.ts';
import { groupOf, lastVersions, type PolicyReader, withLastGood } from '../../shared/cluster/kept-policies.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { listed } from '../../shared/domain/cut-text.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { faultIn } from '../../shared/policies/deciding-policy.ts';
import {
  policiesFor,
  type PolicySet,
  readPolicies,
  unreadablePolicyThatMaySelect,
} from '../../shared/policies/policy-set.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import type { Cluster } from '../cluster.ts';

interface KeptBlocks {
  readonly owner: FunctionName;
  readonly reader: PolicyReader;
}

/** Concerns of a policy, each with the function that keeps the last versions. */
const KEPT = {
  repair: { owner: REPAIR_OWNER, reader: REPAIR_BLOCKS },
  termination: { owner: FINALIZER_OWNER, reader: TERMINATION_BLOCK },
  drain: { owner: DRAIN_OWNER, reader: DRAIN },
  protection: { owner: GRACE_PERIOD_OWNER, reader: PROTECTION },
} satisfies Record<string, KeptBlocks>;

export type Concern = keyof typeof KEPT;

/** A policy that cannot be read as it is. */
export interface UnreadPolicy {
  readonly name: string;
  readonly uid: string;
  readonly fault: string;
  /** The version of it that is in force. */
  readonly inForce: { readonly generation: number } | 'none' | 'notKnown';
}

/** The policies by which one function goes, and those of them that cannot be read as they are. */
export interface PoliciesInForce {
  readonly set: PolicySet;
  readonly unread: readonly UnreadPolicy[];
}

export type SettingsInForce = Readonly<Record<Concern, PoliciesInForce>>;

/** @param objects all policies of the cluster, as they are */
export async function loadSettingsInForce(
  records: Cluster['records'],
  objects: readonly KubernetesObject[],
): Promise<SettingsInForce> {
  const of = async (concern: Concern): Promise<PoliciesInForce> => {
    const { owner, reader }: KeptBlocks = KEPT[concern];
    const versions = records && (await lastVersions({ records }, owner, reader, objects));
    const { blocks } = groupOf(reader);
    const unread = objects.flatMap((object): UnreadPolicy[] => {
      const fault = faultIn(object, blocks);
      if (fault === undefined) return [];
      const { name, uid } = object.metadata;
      const version = versions?.get(uid);
      const known = version === undefined ? 'none' : { generation: version.generation };
      return [{ name, uid, fault, inForce: versions === undefined ? 'notKnown' : known }];
    });
    return { set: readPolicies(versions === undefined ? objects : withLastGood(objects, versions)), unread };
  };
  const [repair, termination, drain, protection] = await Promise.all([
    of('repair'),
    of('termination'),
    of('drain'),
    of('protection'),
  ]);
  return { repair, termination, drain, protection };
}

/** The policies that cannot be read as they are, and are or may be in force for the pool in another version. */
export function unreadFor(
  pool: KubernetesObject | undefined,
  { set, unread }: PoliciesInForce,
): readonly UnreadPolicy[] {
  const applying = policiesFor(pool, set).map(({ object }) => object.metadata.uid);
  return unread.filter(({ uid, inForce }) => {
    const faults = set.faults.filter(({ object }) => object.metadata.uid === uid);
    const mayApply =
      applying.includes(uid) || unreadablePolicyThatMaySelect(pool, { policies: [], faults }) !== undefined;
    return inForce !== 'none' && mayApply;
  });
}

/** Words about a policy that cannot be read, and the version of it that is in force. */
export function unreadText({ fault, inForce }: UnreadPolicy): string {
  const what = `cannot be read: ${fault}`;
  if (inForce === 'none') return what;
  return inForce === 'notKnown'
    ? `${what}; the version that could be read last stays in force, and is not known here (--stack NAME reads it)`
    : `${what}; generation ${inForce.generation}, which could be read last, is in force`;
}

/** A rule, and the versions of policies that it comes from where those are older. @param rule as the policies that are known say it */
export function withUnread(rule: string, unread: readonly UnreadPolicy[]): string {
  const older = unread.flatMap(({ name, inForce }) =>
    typeof inForce === 'object' ? [`NodeLifecyclePolicy ${name} as of generation ${inForce.generation}`] : [],
  );
  const unknown = unread.flatMap(({ name, inForce }) =>
    inForce === 'notKnown' ? [`NodeLifecyclePolicy ${name}`] : [],
  );
  if (unknown.length > 0)
    return `not known here: it is up to a version of ${listed(unknown)} that could be read before`;
  return older.length === 0 ? rule : `${rule} (${listed(older)})`;
}

/** Whether the versions in force are known. */
export const isKnown = (unread: readonly UnreadPolicy[]): boolean =>
  unread.every(({ inForce }) => inForce !== 'notKnown');
