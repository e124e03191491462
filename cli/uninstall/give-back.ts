/** Takes a termination finalizer of ours off what lives, and gives Karpenter its own back. */
import { effectiveTermination } from '../../functions/finalizer/explain.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DEFAULT_TERMINATION_FINALIZER } from '../../shared/domain/termination.ts';
import { readPolicies } from '../../shared/policies/policy-set.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { listed, type Refusals } from './refusals.ts';

const KINDS = ['NodeClaim', 'Node'] as const;

/**
 * An object with our mark, which names the finalizer. Where the mark was taken off: one with the default finalizer, or with that which its
 * NodePool and policies ask for.
 */
export interface MarkedObject {
  /** As `NodeClaim a`. */
  readonly what: string;
  readonly kind: (typeof KINDS)[number];
  readonly mark: string;
  readonly isTerminating: boolean;
  readonly metadata: KubernetesObject['metadata'];
}

export async function markedObjects(
  kubernetes: Pick<KubernetesApi, 'list'>,
  refusals: Refusals,
): Promise<readonly MarkedObject[]> {
  const marked: MarkedObject[] = [];
  const askedFor = await finalizersInForce(kubernetes, refusals);
  for (const kind of KINDS) {
    for (const { metadata } of await listed(kubernetes, kind, refusals)) {
      const { finalizers = [], annotations, labels } = metadata;
      const known = [DEFAULT_TERMINATION_FINALIZER, askedFor(labels?.[KARPENTER.nodePoolLabel])];
      const mark = annotations?.[ANNOTATIONS.terminationFinalizer] ?? finalizers.find(each => known.includes(each));
      if (mark === undefined) continue;
      const isTerminating = metadata.deletionTimestamp !== undefined;
      marked.push({ what: `${kind} ${metadata.name}`, kind, mark, isTerminating, metadata });
    }
  }
  return marked;
}

/** The name that is in force for a NodePool, by which the functions know their finalizer as well. */
async function finalizersInForce(
  kubernetes: Pick<KubernetesApi, 'list'>,
  refusals: Refusals,
): Promise<(pool: string | undefined) => string | undefined> {
  const [pools, policies] = await Promise.all([
    listed(kubernetes, 'NodePool', refusals),
    listed(kubernetes, 'NodeLifecyclePolicy', refusals),
  ]);
  const set = readPolicies(policies);
  const byName = new Map(pools.map(pool => [pool.metadata.name, pool]));
  return name => {
    const termination = effectiveTermination(name === undefined ? undefined : byName.get(name), set);
    return termination.kind === 'custom' ? termination.settings.finalizerName : undefined;
  };
}

/** Exactly the object that was read. Says it, and answers true, when the API server has stored it so, which an admission policy can prevent. */
export async function giveBack(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  { what, kind, mark, metadata }: MarkedObject,
  { dryRun, say }: { readonly dryRun: boolean; readonly say: (line: string) => void },
): Promise<boolean> {
  const { name, uid, resourceVersion, finalizers = [], labels } = metadata;
  const kept = finalizers.filter(each => each !== mark && each !== DEFAULT_TERMINATION_FINALIZER);
  const isMissing = labels?.[KARPENTER.nodePoolLabel] !== undefined && !kept.includes(KARPENTER.terminationFinalizer);
  const next = isMissing ? [...kept, KARPENTER.terminationFinalizer] : kept;
  const annotations = { [ANNOTATIONS.terminationFinalizer]: null };
  const body = { metadata: { uid, resourceVersion, finalizers: next, annotations } };
  if (!dryRun) {
    const outcome = await kubernetes.patch({ type: RESOURCES[kind], name }, { type: 'merge', body });
    const after = outcome.kind === 'ok' ? (outcome.object.metadata.finalizers ?? []) : [mark];
    if (after.includes(mark) || after.includes(DEFAULT_TERMINATION_FINALIZER)) return false;
  }
  say(`taken ${mark} off ${what}${isMissing ? `, put ${KARPENTER.terminationFinalizer} on` : ''}`);
  return true;
}
