/** I5: a FinalizerRule that is deleted goes within five minutes of when nothing under its finalizer is left to clean up. */
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck } from './invariant.ts';
import { dig, nameOf, textOf } from './reading.ts';
import { isNotServed, pluralOf } from './served-versions.ts';

export const checkFinalizerRuleEnd: MakeCheck = context => {
  const { mirror, now, quietSince, lastDenial, violate } = context;
  /** By UID: since when nothing holds the rule. */
  const free = new Map<string, number>();
  return {
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined) return free.clear();
      for (const [uid, rule] of mirror.all('finalizerrules')) {
        const isJudged = rule.metadata.deletionTimestamp !== undefined && !isNotServed(rule, context.objects);
        const held = isJudged ? heldBy(rule, context) : undefined;
        if (held === undefined || held.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) {
          free.delete(uid);
          continue;
        }
        const resource = pluralOf(rule, context.objects) ?? '';
        const denials = [
          lastDenial('finalizerrules', rule.metadata),
          ...held.map(each => lastDenial(resource, each.metadata)),
        ];
        const since = Math.max(free.get(uid) ?? now(), quiet, ...denials);
        free.set(uid, since);
        if (now() - since <= LONGEST_DELAY) continue;
        violate('I5', `nothing holds the end of ${nameOf(rule)} since ${toIsoText(toEpochMs(since))}, and it is there`);
        free.set(uid, Infinity);
      }
    },
  };
};

/** What carries the rule's finalizer. */
function heldBy(rule: KubernetesObject, { objects }: CheckContext): readonly KubernetesObject[] {
  const resource = pluralOf(rule, objects);
  if (resource === undefined) return [];
  const name = dig(rule, 'spec', 'finalizerName');
  return objects(`${resource}.${textOf(dig(rule, 'spec', 'group')) ?? ''}`).filter(({ metadata }) =>
    (metadata.finalizers ?? []).some(each => each === name),
  );
}
