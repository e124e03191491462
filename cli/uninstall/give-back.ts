/** Takes a termination finalizer of ours off what lives, and gives Karpenter its own back. */
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DEFAULT_TERMINATION_FINALIZER } from '../../shared/domain/termination.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';

const KINDS = ['NodeClaim', 'Node'] as const;

/** An object with our mark, which names the finalizer; where the mark was taken off, one with the finalizer that is ours by its name. */
export interface Marked {
  /** As `NodeClaim a`. */
  readonly what: string;
  readonly kind: (typeof KINDS)[number];
  readonly mark: string;
  readonly isTerminating: boolean;
  readonly metadata: KubernetesObject['metadata'];
}

export async function markedObjects(kubernetes: Pick<KubernetesApi, 'list'>): Promise<readonly Marked[]> {
  const marked: Marked[] = [];
  for (const kind of KINDS) {
    for (const { metadata } of objectsOf(await kubernetes.list(RESOURCES[kind]), { notServed: 'none' })) {
      const isDefault = metadata.finalizers?.includes(DEFAULT_TERMINATION_FINALIZER) === true;
      const noted = metadata.annotations?.[ANNOTATIONS.terminationFinalizer];
      const mark = noted ?? (isDefault ? DEFAULT_TERMINATION_FINALIZER : undefined);
      if (mark === undefined) continue;
      const isTerminating = metadata.deletionTimestamp !== undefined;
      marked.push({ what: `${kind} ${metadata.name}`, kind, mark, isTerminating, metadata });
    }
  }
  return marked;
}

/** Exactly the object that was read. Says it when the API server has stored it so, which an admission policy can prevent. */
export async function giveBack(
  kubernetes: Pick<KubernetesApi, 'patch'>,
  { what, kind, mark, metadata }: Marked,
  { dryRun, say }: { readonly dryRun: boolean; readonly say: (line: string) => void },
): Promise<void> {
  const { name, uid, resourceVersion, finalizers = [], labels } = metadata;
  const kept = finalizers.filter(each => each !== mark && each !== DEFAULT_TERMINATION_FINALIZER);
  const isMissing = labels?.[KARPENTER.nodePoolLabel] !== undefined && !kept.includes(KARPENTER.terminationFinalizer);
  const next = isMissing ? [...kept, KARPENTER.terminationFinalizer] : kept;
  const annotations = { [ANNOTATIONS.terminationFinalizer]: null };
  const body = { metadata: { uid, resourceVersion, finalizers: next, annotations } };
  if (!dryRun) {
    const outcome = await kubernetes.patch({ type: RESOURCES[kind], name }, { type: 'merge', body });
    const after = outcome.kind === 'ok' ? (outcome.object.metadata.finalizers ?? []) : [mark];
    if (after.includes(mark) || after.includes(DEFAULT_TERMINATION_FINALIZER)) return;
  }
  say(`taken ${mark} off ${what}${isMissing ? `, put ${KARPENTER.terminationFinalizer} on` : ''}`);
}
