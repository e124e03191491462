/** Which hooks of which instance were called, and with what outcome. */
import { CLOCK_LAG, type Check, type CheckContext, type PortCall, type Run } from './invariant.ts';
import { dig, fieldsOf, instanceOfClaim, instanceOfNode, listOf, textOf } from './reading.ts';
import { isKubernetes, lastRecordWrite, targetOf } from './run-journal.ts';
import type { HookPlan } from './termination-oracle.ts';

export interface HookJournal {
  readonly onCall: (call: PortCall, run: Run) => void;
  readonly onRecord: NonNullable<Check['onRecord']>;
  readonly onClusterRestored: NonNullable<Check['onClusterRestored']>;
  /** Whether the termination of the instance may go on past the hook. */
  readonly isOver: (instance: string | undefined, hook: HookPlan, run: Run) => boolean;
}

interface HookCallMade {
  readonly call: PortCall;
  readonly run: Run;
}

export function createHookJournal({
  now,
  clockTolerance,
  mirror,
  objects,
  instanceState,
  memoryOf,
  violate,
}: CheckContext): HookJournal {
  const calls = new Map<string, HookCallMade[]>();
  /** By the start of its run, when each hook of an instance was noted down first: its time counts from there. */
  const noted = new Map<string, number>();
  /** Those of which the instance had ended by then. */
  const notedAfterEnd = new Set<string>();
  const forget = (key: string, left: HookCallMade[]): void => {
    calls.set(key, left);
    noted.delete(key);
    notedAfterEnd.delete(key);
  };
  /** The hooks in the records of terminations, by UID of the NodeClaim or Node. */
  const recorded = new Map<string, readonly string[]>();
  let isRestored = false;
  /** A restored cluster may have forgotten a deletion. The next one has hooks of its own (docs/runbook.md). */
  const forgetUnrecorded = (): void => {
    for (const [key, made] of isRestored ? calls : []) {
      const name = key.slice(key.lastIndexOf('/') + 1);
      const left = made.filter(({ call }) => recorded.get(uidOf(call))?.includes(name) === true);
      if (left.length < made.length) forget(key, left);
    }
  };
  /** When a policy changed last: what a hook was let pass for may have been another version of it. */
  let editTime = -Infinity;
  mirror.follow(resource => {
    if (resource === 'nodelifecyclepolicies') editTime = now();
  });
  // An instance whose Node and NodeClaim are both gone has ended: objects that are made of it anew are another termination (I10).
  mirror.follow((resource, _, object) => {
    if (object !== undefined || (resource !== 'nodes' && resource !== 'nodeclaims')) return;
    const living = new Set([
      ...[...mirror.all('nodes').values()].map(node => instanceOfNode(node) ?? ''),
      ...[...mirror.all('nodeclaims').values()].map(claim => instanceOfClaim(claim) ?? ''),
    ]);
    for (const key of noted.keys()) if (!living.has(key.slice(0, key.lastIndexOf('/')))) forget(key, []);
  });
  /** The custom resources of an instance's hooks, and whether they were seen to be done. */
  const resources = new Map<string, { readonly name: string; isDone: boolean }>();
  const isDone = (key: string, conditionType: string): boolean => {
    const made = resources.get(key);
    if (made === undefined) return false;
    const object = objects(HOOK_RESOURCES).find(({ metadata }) => metadata.name === made.name);
    made.isDone ||= listOf(dig(object, 'status', 'conditions')).some(
      condition => dig(condition, 'type') === conditionType && dig(condition, 'status') === 'True',
    );
    return made.isDone;
  };
  const answerOf = ({ outcome }: PortCall): unknown =>
    outcome.kind === 'answered' ? fieldsOf(outcome.value)['kind'] : undefined;
  const noteHooks = (record: unknown, { startTime }: Run): void => {
    const instance = textOf(dig(record, 'state', 'providerID')) ?? '';
    for (const name of Object.keys(fieldsOf(dig(record, 'state', 'hooks')))) {
      const key = `${instance}/${name}`;
      if (noted.has(key)) continue;
      noted.set(key, startTime);
      if (['shutting-down', 'terminated', undefined].includes(instanceState(instance))) notedAfterEnd.add(key);
    }
  };
  return {
    onRecord(key, record) {
      const [, uid] = /^finalizer\/(?:nodeclaim|node)\/(.+)$/.exec(key) ?? [];
      if (uid === undefined) return;
      recorded.set(uid, Object.keys(fieldsOf(dig(record, 'state', 'hooks'))));
      forgetUnrecorded();
    },
    onClusterRestored() {
      isRestored = true;
      forgetUnrecorded();
    },
    onCall(call, run) {
      if (call.port === 'records' && call.method === 'put') noteHooks(call.args[0], run);
      if (isKubernetes(call, 'create') && targetOf(call).resource === HOOK_RESOURCES.split('.', 1)[0]) {
        const name = textOf(dig(call.args[1], 'metadata', 'name')) ?? '';
        const instance = textOf(dig(call.args[1], 'spec', 'instance')) ?? '';
        const key = `${instance}/${name.split('-', 1)[0] ?? ''}`;
        if (resources.get(key)?.name !== name) resources.set(key, { name, isDone: false });
        if (lastRecordWrite(run) < 0) violate('I4', `${run.by} makes ${name} before it noted that down`);
      }
      if (call.port !== 'hooks' || dig(call.args[0], 'purpose') !== 'hook') return;
      const name = textOf(dig(call.args[0], 'name')) ?? '';
      const key = `${textOf(dig(call.args[0], 'details', 'providerID')) ?? ''}/${name}`;
      const about = uidOf(call);
      const earlier = calls.get(key) ?? [];
      calls.set(key, [...earlier, { call, run }]);
      if (lastRecordWrite(run) < 0) violate('I4', `${run.by} calls hook ${name} before it noted that down`);
      const isNoted = (made: HookCallMade): boolean => {
        const answer = answerOf(made.call);
        return (
          (answer === 'succeeded' || answer === 'pending') && isStored(made) && memoryOf(made.call.time) === 'whole'
        );
      };
      if (earlier.some(isNoted)) violate('I4', `${run.by} calls hook ${name} of ${about} again, whose answer it has`);
    },
    isOver(instance, { name, periodMs, onTimeout, conditionType, isIdleAfterEnd }, { startTime }) {
      const key = `${instance ?? ''}/${name}`;
      if (isIdleAfterEnd && notedAfterEnd.has(key)) return true;
      const since = noted.get(key) ?? Infinity;
      if (conditionType !== undefined && isDone(key, conditionType)) return true;
      // The template may not be there to make a resource of.
      if (
        conditionType !== undefined &&
        onTimeout === 'Proceed' &&
        since + periodMs <= now() + clockTolerance + CLOCK_LAG
      )
        return true;
      if (conditionType !== undefined && editTime > since) return true;
      const made = calls.get(`${instance ?? ''}/${name}`) ?? [];
      if (made.some(({ call }) => answerOf(call) === 'succeeded')) return true;
      const [first] = made;
      // It may have read another version of the policy, which had no such hook.
      if (first === undefined) return editTime > startTime;
      const isElapsed = onTimeout === 'Proceed' && first.run.startTime + periodMs <= now() + clockTolerance + CLOCK_LAG;
      return isElapsed || editTime > first.run.startTime;
    },
  };
}

/** UID of the object whose termination calls the hook. */
const uidOf = (call: PortCall): string => textOf(dig(call.args[0], 'about', 'uid')) ?? '';

/** The plural and group of the random clusters' own. */
const HOOK_RESOURCES = 'hookworks.network.example.com';

/** Whether the run that called wrote the record right afterwards: then it has the answer for certain. */
function isStored({ call, run }: HookCallMade): boolean {
  const after = run.calls.slice(run.calls.indexOf(call) + 1);
  const outcome = after.find(({ port, method }) => port === 'records' && method === 'put')?.outcome;
  return outcome?.kind === 'answered' && fieldsOf(outcome.value)['kind'] === 'written';
}
