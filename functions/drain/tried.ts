/** Which pods a drain has set out to evict or delete, and how many of them are gone: what its answer counts. Pure. */
import { isTerminating, type PodView } from '../../shared/domain/pod.ts';
import type { ActiveDrain } from './model.ts';
import type { DrainPass } from './pass.ts';

/** The pods that the drain has set out to evict or delete, those of this pass among them. */
export function withTried({ tried = [] }: ActiveDrain, { acts }: DrainPass): readonly string[] {
  const known = new Set(tried);
  const more = acts.filter(act => act.kind !== 'warn' && !known.has(act.pod.uid)).map(({ pod }) => pod.uid);
  return more.length === 0 ? tried : [...tried, ...more];
}

/**
 * Which of the pods that were tried are gone or about to go: whichever run it was. Records of before count by themselves. Of pods that are
 * not there any more the number is kept, however many come after them.
 */
export function counted(active: ActiveDrain, pods: readonly PodView[]): ActiveDrain {
  const terminating = new Map(pods.map(pod => [pod.uid, isTerminating(pod)]));
  const isThere = (uid: string): boolean => terminating.has(uid);
  const warned = active.warned.filter(isThere);
  if (active.tried === undefined) return { ...active, warned };
  const tried = active.tried.filter(isThere);
  const gone = (active.gone ?? 0) + active.tried.length - tried.length;
  const going = tried.filter(uid => terminating.get(uid)).length;
  return { ...active, warned, tried, ...(gone > 0 && { gone }), drained: Math.max(active.drained, gone + going) };
}
