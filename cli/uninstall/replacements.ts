/** Replacements that repairs have launched: nobody opens or ends them once Curfew is gone, and Karpenter leaves them alone. */
import { endReplacement } from '../../functions/repair/explain.ts';
import { REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { listed, type Refusals } from './refusals.ts';

const WORDS = {
  deleted: (name: string) => `deleted NodeClaim ${name}, a replacement that no pod may use yet`,
  kept: (name: string) => `taken the marks of a replacement off NodeClaim ${name} and its Node`,
};

/** Deletes those that are still reserved, and takes the marks off the others. @returns those that changed meanwhile */
export async function endReplacements(
  kubernetes: KubernetesApi,
  { dryRun, say }: { readonly dryRun: boolean; readonly say: (line: string) => void },
  refusals: Refusals,
): Promise<readonly string[]> {
  const deps = { kubernetes: dryRun ? withoutWrites(kubernetes) : kubernetes };
  const changed: string[] = [];
  for (const { metadata } of await listed(kubernetes, 'NodeClaim', refusals)) {
    const { name, uid, annotations, deletionTimestamp } = metadata;
    const nodeUid = annotations?.[REPLACES_ANNOTATION];
    if (nodeUid === undefined || deletionTimestamp !== undefined) continue;
    const what = `NodeClaim ${name}`;
    const end = await refusals.try(what, () => orChanged(endReplacement(deps, { name, uid }, nodeUid)));
    if (end === 'changed') changed.push(what);
    if (end === 'deleted' || end === 'kept') say(WORDS[end](name));
  }
  return changed;
}

async function orChanged<End>(ended: Promise<End>): Promise<End | 'changed'> {
  try {
    return await ended;
  } catch (error) {
    if (error instanceof RetryableError && error.reason === 'Conflict') return 'changed';
    throw error;
  }
}

const withoutWrites = (kubernetes: KubernetesApi): KubernetesApi => ({
  ...kubernetes,
  patch: () => Promise.resolve({ kind: 'notFound' }),
  delete: () => Promise.resolve({ kind: 'notFound' }),
});
