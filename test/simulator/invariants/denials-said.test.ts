/** I8 of what an admission policy denies: one cause is said once an hour. */
import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { checkDenialsSaid } from '../../../simulator/invariants/denials-said.ts';
import type { CheckContext } from '../../../simulator/invariants/invariant.ts';
import type { Mirror } from '../../../simulator/invariants/mirror.ts';
import { mirrorOf } from '../../builders/mirror.ts';

type Listener = Parameters<Mirror['follow']>[0];

const aRule = (uid: string): KubernetesObject => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'FinalizerRule',
  metadata: { name: 'databases', uid, resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
});

function told() {
  const found: string[] = [];
  const listeners: Listener[] = [];
  let now = 0;
  const context: Partial<CheckContext> = {
    mirror: { ...mirrorOf({}), follow: listener => void listeners.push(listener) },
    now: () => toEpochMs(now),
    memoryOf: () => 'whole',
    violate: (invariant, message) => void found.push(`${invariant}: ${message}`),
  };
  const check = checkDenialsSaid(context as CheckContext);
  const rule = (uid: string, object: KubernetesObject | undefined): void => {
    for (const listener of listeners) listener('finalizerrules', uid, object);
  };
  rule('r1', aRule('r1'));
  return {
    found,
    rule,
    at: (minute: number): void => void (now = minute * 60_000),
    say(reason: string): void {
      const involvedObject = { name: 'db1', uid: 'uid-of-db1' };
      const message = `patching db1: 'keep' denied request: not by you`;
      const resource = { group: '', version: 'v1', resource: 'events' };
      const write = { verb: 'create', resource, user: 'finalizer', after: { reason, message, involvedObject } };
      check.onWrite?.(write as never, 'finalizer');
    },
  };
}

const CHANGED = { ...aRule('r1'), spec: { deadline: '1h' } };

describe('a denial that is said twice within the hour', () => {
  it.each<readonly [string, string, (one: ReturnType<typeof told>) => void, number]>([
    ['of one rule', 'FinalizationError', () => {}, 1],
    ['of one rule that changed', 'FinalizationError', one => one.rule('r1', CHANGED), 1],
    ['of one rule that went', 'FinalizationError', one => one.rule('r1', undefined), 1],
    ['of a rule that was made meanwhile', 'FinalizationError', one => one.rule('r2', aRule('r2')), 0],
    ['of a Node, whatever rule was made', 'NodeChangeRefused', one => one.rule('r2', aRule('r2')), 1],
  ])('%s', (_, reason, happens, complaints) => {
    const one = told();
    one.at(1);
    one.say(reason);
    one.at(10);
    happens(one);
    one.at(16);
    one.say(reason);
    expect(one.found).toHaveLength(complaints);
  });
});
