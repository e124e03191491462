/**
 * I9: what a function destroys is in the audit log. After a run that dies between the call and its report, within five
 * minutes some line is about the object, about what it belongs to, or names it in its numbers.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { LONGEST_DELAY, type MakeCheck } from './invariant.ts';
import { dig, nameOf, textOf } from './reading.ts';

interface Unexplained {
  readonly what: string;
  readonly since: number;
  /** Words of which a line must have one: names, UIDs. */
  readonly words: readonly string[];
}

export const checkExplained: MakeCheck = ({ now, quietSince, violate }) => {
  let unexplained: readonly Unexplained[] = [];
  return {
    onWrite({ verb, before, resource }, by) {
      if (before === undefined || !isDestroyed(verb, resource.resource)) return;
      const what = `${by} ${verb === 'evict' ? 'evicted' : 'deleted'} ${nameOf(before)}`;
      unexplained = [...unexplained, { what, since: now(), words: wordsOf(before) }];
    },
    onAudit(record) {
      if (unexplained.length === 0) return;
      // Names are of letters, digits, `-` and `.`; a sentence may end with one.
      const said = new Set(
        JSON.stringify(record)
          .split(/[^\w.-]+/)
          .flatMap(word => [word, word.replace(/\.$/, '')]),
      );
      unexplained = unexplained.filter(({ words }) => !words.some(word => said.has(word)));
    },
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined) return;
      const isLate = ({ since }: Unexplained): boolean => now() - Math.max(since, quiet) > LONGEST_DELAY;
      for (const { what, since } of unexplained.filter(isLate))
        violate('I9', `${what} at ${toIsoText(toEpochMs(since))}, and no audit line says so`);
      unexplained = unexplained.filter(each => !isLate(each));
    },
  };
};

const isDestroyed = (verb: string, resource: string): boolean =>
  ['delete', 'evict'].includes(verb) && ['pods', 'nodes', 'nodeclaims'].includes(resource);

/** The object's own and its node's. */
function wordsOf(object: KubernetesObject): readonly string[] {
  const { name, uid } = object.metadata;
  const node = textOf(dig(object, 'spec', 'nodeName')) ?? textOf(dig(object, 'status', 'nodeName'));
  return [name, uid, ...(node === undefined ? [] : [node])];
}
