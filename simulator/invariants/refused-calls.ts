/**
 * I8: what is refused is not asked for again and again. Counted for each function, verb and object, from its last success on: a request that
 * is refused goes out after 1, 2, 4 … 60 minutes, a missing permission is tried every minute, what fails otherwise every 10 s for five minutes
 * and then every five. An eviction of one pod that is not granted is asked for once in 10 s.
 */
import type { MakeCheck, PortCall, Run } from './invariant.ts';
import { dig, fieldsOf, textOf } from './reading.ts';
import { does, isKubernetes, targetOf } from './run-journal.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Why = 'denied' | 'forbidden' | 'failed' | 'blocked';

/** In an hour; each change of the object, and each new answer, may add one. */
const MAX_IN_AN_HOUR: Readonly<Record<Why, number>> = {
  // 1, 2, 4 … 60 min come to 7 in the first hour.
  denied: 30,
  forbidden: 75,
  // 30 in the first five minutes, and 12 after them.
  failed: 50,
  // A budget is asked every 10 s, and every minute after the twentieth time, of each new pod anew.
  blocked: Infinity,
};
/** One in 10 s; two runs that look at the same time both ask. */
const MAX_EVICTIONS_IN_A_MINUTE = 9;
/** A first try is noted when it is answered: runs that began before that all ask, and count as one. */
const FIRST_TRIES = 5_000;
/** In an hour; a run that dies forgets what it was answered. */
const MAX_SECOND_PROBES = 10;

interface Refused {
  readonly time: number;
  readonly why: Why;
}

export const checkRefusedCalls: MakeCheck = ({ now, quietSince, violate }) => {
  /** Of the last hour, by what is refused. */
  const calls = new Map<string, readonly Refused[]>();
  /** Of pods: when a run asked for a second one, of which it knew that nobody may do that to it. */
  const second = new Map<string, readonly number[]>();
  const probes = new WeakMap<Run, Set<string>>();
  /** One pod shows for all whether a permission is there again. */
  const checkProbe = (call: PortCall, run: Run, isKnown: boolean): void => {
    const { resource, name = '' } = targetOf(call);
    if (resource !== 'pods' || !isKnown) return;
    const probed = probes.get(run) ?? new Set();
    probes.set(run, probed);
    const isSecond = probed.size === 1 && !probed.has(name);
    probed.add(name);
    if (!isSecond) return;
    const what = `${run.by} ${does(call)}`;
    const times = [...(second.get(what) ?? []).filter(time => now() - time < HOUR), now()];
    second.set(what, times);
    if (times.length !== MAX_SECOND_PROBES + 1) return;
    violate('I8', `${what} several pods a minute, although it must not ${call.method} any`);
  };
  return {
    onAnswer(call, run) {
      // Repair does not keep this one yet.
      if (run.by === 'repair' || !isChange(call)) return;
      const what = `${run.by} ${does(call)} ${objectIn(call)}`;
      const why = whyRefused(call);
      if (why === 'changed') return;
      if (why === undefined) return void calls.delete(what);
      if (why === 'forbidden') checkProbe(call, run, calls.get(what)?.at(-1)?.why === why);
      const recent = [...(calls.get(what) ?? []).filter(({ time }) => now() - time < HOUR), { time: now(), why }];
      calls.set(what, recent);
      const same = recent.filter(each => each.why === why).length;
      // What fails otherwise is left to the queue, but for pods and instances.
      const isJudged = why !== 'failed' || call.port === 'instances' || targetOf(call).resource === 'pods';
      if (isJudged && same === MAX_IN_AN_HOUR[why] + 1) violate('I8', `${what}: ${why} ${same} times within an hour`);
      const from = Math.max(now() - MINUTE, quietSince() ?? Infinity);
      const firstTries = (recent[0]?.time ?? 0) + FIRST_TRIES;
      const later = recent.filter(({ time }) => time > from && time > firstTries).length;
      const lately = later + (firstTries > from ? 1 : 0);
      if (call.method === 'evict' && lately > MAX_EVICTIONS_IN_A_MINUTE)
        violate('I8', `${what}: not granted ${lately} times within a minute`);
    },
  };
};

const isChange = (call: PortCall): boolean =>
  isKubernetes(call, 'patch', 'delete', 'evict') || (call.port === 'instances' && call.method === 'terminate');

function objectIn(call: PortCall): string {
  if (call.port === 'instances') return `instance ${String(call.args[0])}`;
  const { resource, namespace, name = '' } = targetOf(call);
  const uid = textOf(dig(call.args[1], 'preconditions', 'uid')) ?? '';
  // RBAC lets or refuses the status by itself.
  const subresource = textOf(dig(call.args[2], 'subresource'));
  return `${resource}${subresource === undefined ? '' : `/${subresource}`} ${namespace === undefined ? '' : `${namespace}/`}${name} ${uid}`.trim();
}

/** Statuses 401, 404, 408, 409, 410, 425, 429 and 5xx may pass; what is thrown for the others is told apart by its name. */
function whyRefused({ method, outcome }: PortCall): Why | 'changed' | undefined {
  if (outcome.kind === 'pending') return 'changed';
  if (outcome.kind === 'answered') {
    const kind = textOf(fieldsOf(outcome.value)['kind']);
    if (kind === 'conflict') return 'changed';
    if (kind === 'refused') return 'denied';
    if (kind === 'misconfigured') return 'failed';
    // Of a pod: listed, and not there. Other objects are looked for before they count as gone.
    if (kind === 'notFound' && method === 'evict') return 'failed';
    return kind === 'blocked' ? 'blocked' : undefined;
  }
  const { error } = outcome;
  if (textOf(dig(error, 'name')) === 'TerminalError') return 'denied';
  const isForbidden = textOf(dig(error, 'reason')) === 'Forbidden';
  if (!isForbidden) return dig(error, 'isForbidden') === true ? 'forbidden' : 'failed';
  return / cannot \w+ resource /.test(textOf(dig(error, 'message')) ?? '') ? 'forbidden' : 'denied';
}
