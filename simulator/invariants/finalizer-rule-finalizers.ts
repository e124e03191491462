/**
 * I1 for FinalizerRules: the finalizer of a rule goes from an object that is being deleted only after its clean-up answered that it is
 * done, or at a deadline whose rule says Release. I4: a clean-up is not called before an intent was recorded. I5: an object whose
 * clean-up would be done by now is gone within five minutes.
 */
import { parseGoDuration } from '../../shared/domain/go-duration.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { CLUSTER_NAME } from '../scenario/scenario.ts';
import { rulesWith } from './finalizers.ts';
import { isNotServed, pluralOf } from './served-versions.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck, type PortCall } from './invariant.ts';
import { dig, fieldsOf, listOf, nameOf, textOf } from './reading.ts';
import { lastRecordWrite } from './run-journal.ts';

const isCleanup = ({ port, args }: PortCall): boolean =>
  port === 'hooks' && textOf(dig(args[0], 'purpose')) === 'cleanup';

export const checkFinalizerRuleFinalizers: MakeCheck = context => {
  const { mirror, now, clockTolerance, quietSince, lastDenial, violate } = context;
  /** By UID: since when nothing keeps the object. */
  const free = new Map<string, number>();
  /** Calls that may have an answer by now, by the clean-up: object and finalizer, which another rule may have taken over. */
  const calls = new Map<string, PortCall[]>();
  /** Clean-ups that a worker reported as done. */
  const answered = new Set<string>();
  /** Those that said so while they were waited for: nothing else is. */
  const isOver = new Set<string>();
  /** The clean-up that a call or an answer is about. @param key `uid/rule` */
  const cleanUpOf = (key: string): string => {
    const [uid = '', name] = key.split('/');
    const rule = [...mirror.all('finalizerrules').values()].find(({ metadata }) => metadata.name === name);
    return workOn(uid, textOf(dig(rule, 'spec', 'finalizerName')));
  };
  const isCleaned = (cleanUp: string): boolean =>
    answered.has(cleanUp) ||
    (calls.get(cleanUp) ?? []).some(
      ({ outcome }) => outcome.kind === 'answered' && fieldsOf(outcome.value)['kind'] === 'succeeded',
    );
  /** A function said that a worker is at it: it may take its time. */
  const isAtWork = (cleanUp: string): boolean => {
    const outcome = calls.get(cleanUp)?.at(-1)?.outcome;
    return outcome?.kind === 'answered' && fieldsOf(outcome.value)['kind'] === 'pending';
  };
  /** When the deletion of a pod began, by its UID: its timestamp moves with its grace period. */
  const begins = new Map<string, number>();
  mirror.follow((resource, uid, object) => {
    if (resource !== 'pods' || object === undefined) return;
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
    if (deletionTimestamp === undefined) begins.delete(uid);
    else if (!begins.has(uid)) begins.set(uid, Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000);
  });
  return {
    onMinute() {
      const quiet = quietSince();
      const kept = (quiet === undefined ? [] : keptObjects(context)).filter(
        ({ finalizerName, isAsked, object: { metadata } }) => {
          const cleanUp = workOn(metadata.uid, finalizerName);
          return isOver.has(cleanUp) || (!isAsked && !isAtWork(cleanUp));
        },
      );
      const uids = new Set(kept.map(({ object }) => object.metadata.uid));
      for (const uid of free.keys()) if (!uids.has(uid)) free.delete(uid);
      for (const { resource, object } of kept) {
        const { uid } = object.metadata;
        const since = Math.max(free.get(uid) ?? now(), quiet ?? now(), lastDenial(resource, object.metadata));
        free.set(uid, since);
        if (now() - since <= LONGEST_DELAY) continue;
        violate(
          'I5',
          `${nameOf(object)} could be gone since ${toIsoText(toEpochMs(since))}, and its finalizer is still on`,
        );
        free.set(uid, Infinity);
      }
    },
    onBusEvent({ detailType, detail }) {
      const result = textOf(dig(detail, 'result')) ?? '';
      if (detailType !== 'TerminationHookAnswered' || !['succeed', 'notFound'].includes(result)) return;
      if (dig(detail, 'cluster') !== CLUSTER_NAME) return;
      const cleanUp = cleanUpOf(textOf(dig(detail, 'key')) ?? '');
      answered.add(cleanUp);
      if (isAtWork(cleanUp) && quietSince() !== undefined) isOver.add(cleanUp);
    },
    onCall(call, run) {
      if (!isCleanup(call)) return;
      const uid = textOf(dig(call.args[0], 'about', 'uid')) ?? '';
      if (lastRecordWrite(run) < 0) violate('I4', `${run.by} calls the clean-up of ${uid} before it noted that down`);
      // After a run that dies before it stored the answer, a second call with the same key follows.
      const cleanUp = cleanUpOf(textOf(dig(call.args[0], 'key')) ?? '');
      calls.set(cleanUp, [...(calls.get(cleanUp) ?? []), call]);
    },
    onWrite({ before, after }, by) {
      if (before?.metadata.deletionTimestamp === undefined) return;
      // Terminations have policies: a rule about these kinds is refused.
      if (before.kind === 'Node' || before.kind === 'NodeClaim') return;
      const left = listOf(dig(after, 'metadata', 'finalizers'));
      for (const name of (before.metadata.finalizers ?? []).filter(each => !left.includes(each))) {
        const [rule] = rulesWith(name, mirror);
        if (rule === undefined || isCleaned(workOn(before.metadata.uid, name))) continue;
        if (dig(rule, 'spec', 'cleanup', 'builtin') !== undefined) continue;
        const period = parseGoDuration(textOf(dig(rule, 'spec', 'deadline')) ?? '');
        const begin = begins.get(before.metadata.uid) ?? Date.parse(before.metadata.deletionTimestamp);
        const end = period.ok ? begin + Number(period.nanoseconds / 1_000_000n) : undefined;
        const mayRelease = dig(rule, 'spec', 'onDeadline') === 'Release';
        if (mayRelease && end !== undefined && end <= now() + clockTolerance) continue;
        const until = end === undefined ? 'has no deadline' : `has until ${toIsoText(toEpochMs(end))}`;
        violate('I1', `${by} takes ${name} off ${nameOf(before)}, whose clean-up is not done and which ${until}`);
      }
    },
  };
};

const workOn = (uid: string, finalizerName: unknown): string => `${uid}/${String(finalizerName)}`;

/** It cannot be read, and nothing is done by it until it can. */
const isRefused = (rule: KubernetesObject): boolean =>
  listOf(dig(rule, 'status', 'conditions')).some(
    each => dig(each, 'type') === 'Accepted' && dig(each, 'reason') === 'Invalid',
  );

interface Kept {
  readonly finalizerName: unknown;
  /** A worker that a bus event asks may take its time. */
  readonly isAsked: boolean;
  readonly resource: string;
  readonly object: KubernetesObject;
}

/** Objects that are being deleted and wait for a clean-up which does not fail. */
function keptObjects({ mirror, objects, failsCleanup }: CheckContext): readonly Kept[] {
  return [...mirror.all('finalizerrules').values()].flatMap(rule => {
    const resource = pluralOf(rule, objects);
    const isAsked = dig(rule, 'spec', 'cleanup', 'event') !== undefined;
    if (resource === undefined || failsCleanup(rule.metadata.name) || isRefused(rule)) return [];
    if (isNotServed(rule, objects)) return [];
    const kept = objects(`${resource}.${textOf(dig(rule, 'spec', 'group')) ?? ''}`).filter(
      ({ metadata }) =>
        metadata.deletionTimestamp !== undefined &&
        (metadata.finalizers ?? []).some(name => name === dig(rule, 'spec', 'finalizerName')),
    );
    return kept.map(object => ({ finalizerName: dig(rule, 'spec', 'finalizerName'), resource, object, isAsked }));
  });
}
