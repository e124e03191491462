/**
 * I11: of one reason about one object an Event an hour, unless the cause changes. What is wrong with settings is left out: each process says it
 * once, and remembers that by itself.
 */
import type { MakeCheck, PortCall, Run } from './invariant.ts';
import { dig, textOf } from './reading.ts';
import { isKubernetes, isStoredAfter, targetOf } from './run-journal.ts';

const HOUR = 3_600_000;
/** One at the end of the hour, and what runs say that wrote a record of something else. */
const MAX_EVENTS = 4;
const SETTINGS: readonly string[] = ['NodeLifecyclePolicy', 'NodePool', 'FinalizerRule', 'ConfigMap'];

interface Said {
  readonly time: number;
  readonly run: Run;
  readonly call: PortCall;
}

export const checkEventsSaid: MakeCheck = ({ now, quietSince, memoryOf, violate }) => {
  /** When each was said, by object, reason and message. */
  const said = new Map<string, readonly Said[]>();
  return {
    onCall(call, run) {
      if (!isKubernetes(call, 'create') || targetOf(call).resource !== 'events') return;
      const event = call.args[1];
      const [kind = '', name = '', uid = ''] = ['kind', 'name', 'uid'].map(field =>
        textOf(dig(event, 'involvedObject', field)),
      );
      if (SETTINGS.includes(kind)) return;
      const [reason = '', message = ''] = ['reason', 'message'].map(field => textOf(dig(event, field)));
      const key = JSON.stringify([run.by, kind, uid, reason, message]);
      const since = Math.max(quietSince() ?? Infinity, now() - HOUR);
      // A run that dies or loses its race before it has recorded what it said leaves that to be said once more (I9).
      const counts = (each: Said): boolean =>
        each.run !== run && each.time >= since && memoryOf(each.time) === 'whole' && isStoredAfter(each.call, each.run);
      const before = (said.get(key) ?? []).filter(counts);
      said.set(key, [...before, { time: now(), run, call }]);
      if (before.length < MAX_EVENTS) return;
      violate('I11', `${run.by} says ${reason} of ${kind} ${name} ${before.length + 1} times in an hour: ${message}`);
      said.delete(key);
    },
  };
};
