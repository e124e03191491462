/** What each Node shows, and since when. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext } from './invariant.ts';

/** Since when the Node with that UID has shown the text without a break; Infinity: it does not. */
export type ShownSince = (uid: string, text: string) => number;

export function followShown(
  { mirror, now }: Pick<CheckContext, 'mirror' | 'now'>,
  shownBy: (node: KubernetesObject) => readonly string[],
): ShownSince {
  const shown = new Map<string, ReadonlyMap<string, number>>();
  mirror.follow((resource, uid, node) => {
    if (resource !== 'nodes') return;
    const texts = node === undefined ? [] : shownBy(node);
    if (texts.length === 0) return void shown.delete(uid);
    const before = shown.get(uid);
    shown.set(uid, new Map(texts.map(text => [text, before?.get(text) ?? now()])));
  });
  return (uid, text) => shown.get(uid)?.get(text) ?? Infinity;
}
