/** I11: of one reason about one object an Event an hour, unless the cause changes. */
import type { MakeCheck } from './invariant.ts';
import { dig, textOf } from './reading.ts';
import { isKubernetes, targetOf } from './run-journal.ts';

const HOUR = 3_600_000;
/** Two runs at once, one that died before it noted what it said, and one after the hour say it, too. */
const MOST = 4;

export const checkEventsSaid: MakeCheck = ({ now, quietSince, memoryOf, violate }) => {
  /** When each was said, by object, reason and message. */
  const said = new Map<string, readonly number[]>();
  return {
    onCall(call, { by }) {
      if (!isKubernetes(call, 'create') || targetOf(call).resource !== 'events') return;
      const event = call.args[1];
      const about = dig(event, 'involvedObject');
      const [reason = '', message = ''] = ['reason', 'message'].map(field => textOf(dig(event, field)));
      const key = JSON.stringify([by, dig(about, 'kind'), dig(about, 'uid'), reason, message]);
      const since = Math.max(quietSince() ?? Infinity, now() - HOUR);
      const times = [...(said.get(key) ?? []), now()].filter(time => time >= since && memoryOf(time) === 'whole');
      said.set(key, times);
      if (times.length <= MOST) return;
      const name = `${textOf(dig(about, 'kind')) ?? ''} ${textOf(dig(about, 'name')) ?? ''}`;
      violate('I11', `${by} says ${reason} of ${name} ${times.length} times in an hour: ${message}`);
      said.delete(key);
    },
  };
};
