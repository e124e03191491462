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

/** Which of the pods that were tried are gone or about to go: whichever run it was. Records of before count by themselves. */
export function counted(active: ActiveDrain, pods: readonly PodView[]): ActiveDrain {
  const { tried } = active;
  if (tried === undefined) return active;
  const staying = new Set(pods.filter(pod => !isTerminating(pod)).map(({ uid }) => uid));
  return { ...active, drained: Math.max(active.drained, tried.filter(uid => !staying.has(uid)).length) };
}
