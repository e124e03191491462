/** Which hooks of which instance were called, and with what outcome. */
import { CLOCK_LAG, type CheckContext, type PortCall, type Run } from './invariant.ts';
import { dig, fieldsOf, textOf } from './reading.ts';
import { lastRecordWrite } from './run-journal.ts';
import type { HookPlan } from './termination-oracle.ts';

export interface HookJournal {
  readonly onCall: (call: PortCall, run: Run) => void;
  /** Whether the termination of the instance may go on past the hook. */
  readonly isOver: (instance: string | undefined, hook: HookPlan) => boolean;
}

interface HookCallMade {
  readonly call: PortCall;
  readonly run: Run;
}

export function createHookJournal({ now, clockTolerance, mirror, violate }: CheckContext): HookJournal {
  const calls = new Map<string, HookCallMade[]>();
  /** When a policy changed last: what a hook was let pass for may have been another version of it. */
  let editTime = -Infinity;
  mirror.follow(resource => {
    if (resource === 'nodelifecyclepolicies') editTime = now();
  });
  const answerOf = ({ outcome }: PortCall): unknown =>
    outcome.kind === 'answered' ? fieldsOf(outcome.value)['kind'] : undefined;
  return {
    onCall(call, run) {
      if (call.port !== 'hooks' || dig(call.args[0], 'purpose') !== 'hook') return;
      const name = textOf(dig(call.args[0], 'name')) ?? '';
      const key = `${textOf(dig(call.args[0], 'details', 'providerID')) ?? ''}/${name}`;
      const about = textOf(dig(call.args[0], 'about', 'uid')) ?? '';
      const earlier = calls.get(key) ?? [];
      calls.set(key, [...earlier, { call, run }]);
      if (lastRecordWrite(run) < 0) violate('I4', `${run.by} calls hook ${name} before it noted that down`);
      const isNoted = (made: HookCallMade): boolean => {
        const answer = answerOf(made.call);
        const isForThis = dig(made.call.args[0], 'about', 'uid') === about;
        return isForThis && (answer === 'succeeded' || answer === 'pending') && isStored(made);
      };
      if (earlier.some(isNoted)) violate('I4', `${run.by} calls hook ${name} of ${about} again, whose answer it has`);
    },
    isOver(instance, { name, periodMs, onTimeout }) {
      const made = calls.get(`${instance ?? ''}/${name}`) ?? [];
      if (made.some(({ call }) => answerOf(call) === 'succeeded')) return true;
      const [first] = made;
      if (first === undefined) return false;
      const isElapsed = onTimeout === 'Proceed' && first.run.startTime + periodMs <= now() + clockTolerance + CLOCK_LAG;
      return isElapsed || editTime > first.run.startTime;
    },
  };
}

/** Whether the run that called wrote the record right afterwards: then it has the answer for certain. */
function isStored({ call, run }: HookCallMade): boolean {
  const after = run.calls.slice(run.calls.indexOf(call) + 1);
  const outcome = after.find(({ port, method }) => port === 'records' && method === 'put')?.outcome;
  return outcome?.kind === 'answered' && fieldsOf(outcome.value)['kind'] === 'written';
}
