/**
 * I1 for FinalizerRules: the finalizer of a rule goes from an object that is being deleted only after its clean-up answered that it is
 * done, or at a deadline whose rule says Release. I4: a clean-up is not called before an intent was recorded.
 */
import { parseGoDuration } from '../../shared/domain/go-duration.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { rulesWith } from './finalizers.ts';
import type { MakeCheck, PortCall } from './invariant.ts';
import { dig, fieldsOf, listOf, nameOf, textOf } from './reading.ts';
import { lastRecordWrite } from './run-journal.ts';

const isCleanup = ({ port, args }: PortCall): boolean =>
  port === 'hooks' && textOf(dig(args[0], 'purpose')) === 'cleanup';

export const checkRuleFinalizers: MakeCheck = ({ mirror, now, clockTolerance, violate }) => {
  /** UIDs of objects with a call that may have an answer by now. */
  const calls = new Map<string, PortCall[]>();
  const isCleaned = (uid: string): boolean =>
    (calls.get(uid) ?? []).some(
      ({ outcome }) => outcome.kind === 'answered' && fieldsOf(outcome.value)['kind'] === 'succeeded',
    );
  return {
    onCall(call, run) {
      if (!isCleanup(call)) return;
      const uid = textOf(dig(call.args[0], 'about', 'uid')) ?? '';
      if (lastRecordWrite(run) < 0) violate('I4', `${run.by} calls the clean-up of ${uid} before it noted that down`);
      if (isCleaned(uid)) violate('I4', `${run.by} calls the clean-up of ${uid}, which is done`);
      calls.set(uid, [...(calls.get(uid) ?? []), call]);
    },
    onWrite({ before, after }, by) {
      if (before?.metadata.deletionTimestamp === undefined) return;
      const left = listOf(dig(after, 'metadata', 'finalizers'));
      for (const name of (before.metadata.finalizers ?? []).filter(each => !left.includes(each))) {
        const [rule] = rulesWith(name, mirror);
        if (rule === undefined || isCleaned(before.metadata.uid)) continue;
        if (dig(rule, 'spec', 'cleanup', 'builtin') !== undefined) continue;
        const period = parseGoDuration(textOf(dig(rule, 'spec', 'deadline')) ?? '');
        const end = period.ok
          ? Date.parse(before.metadata.deletionTimestamp) + Number(period.nanoseconds / 1_000_000n)
          : undefined;
        const mayRelease = dig(rule, 'spec', 'onDeadline') === 'Release';
        if (mayRelease && end !== undefined && end <= now() + clockTolerance) continue;
        const until = end === undefined ? 'has no deadline' : `has until ${toIsoText(toEpochMs(end))}`;
        violate('I1', `${by} takes ${name} off ${nameOf(before)}, whose clean-up is not done and which ${until}`);
      }
    },
  };
};
