/**
 * I6: what an admission policy keeps denying is said, with the words of the policy, in an Event on the object, on what it belongs to
 * (the Node of a pod or of a NodeClaim, the NodeClaim of a Node), or with its name. I8: one cause is not said more often than once an hour,
 * unless the table has lost that it was said, or another FinalizerRule asks for the change.
 */
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { changedBy, denialIn, nodeOfPod } from './denials.ts';
import { LONGEST_DELAY, type MakeCheck, type Run } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { dig, textOf } from './reading.ts';
import { does, isStoredAfter, type Target } from './run-journal.ts';

const HOUR = 60 * 60_000;
/** Two runs that look at the same time both say it. */
const SAID_TOGETHER = 60_000;
const OF_RULES = 'FinalizationError';
/** Under which a refused change of a Node, a NodeClaim or an object of a rule is said. */
const SAID_HOURLY = new Set(['NodeChangeRefused', OF_RULES]);

interface Denied {
  readonly since: number;
  readonly last: number;
}

export const checkDenialsSaid: MakeCheck = ({ mirror, memoryOf, now, quietSince, violate }) => {
  /** By what is denied. */
  const denied = new Map<string, Denied>();
  /** Names of objects with words that were said of them. */
  const said: { readonly name: string; readonly message: string }[] = [];
  /** When a cause was said last and by which run, by object, reason and words. */
  const saidLast = new Map<string, { readonly time: number; readonly run: Run | undefined }>();
  /** Runs that write an Event at the moment. */
  const writing = new Set<Run>();
  /** What a rule that went had promised is forgotten, also that it was refused (I12): when each was made, by UID. */
  const rules = new Map<string, number>();
  mirror.follow((resource, uid) => {
    if (resource === 'finalizerrules' && !rules.has(uid)) rules.set(uid, now());
  });
  return {
    onCall(call, run) {
      if (changedBy(call).resource === 'events') writing.add(run);
      else writing.delete(run);
    },
    onAnswer(call, run) {
      const words = denialIn(call);
      if (words === undefined) return;
      const target = changedBy(call);
      if (target.resource === 'events') return;
      const what = `${run.by} ${does(call)} ${target.resource} ${target.name ?? ''}`;
      const before = denied.get(`${what} ${words}`);
      const isSame = before !== undefined && now() - before.last <= LONGEST_DELAY;
      const since = isSame ? before.since : now();
      denied.set(`${what} ${words}`, { since, last: now() });
      const quiet = quietSince() ?? Infinity;
      if (now() - Math.max(since, quiet) <= LONGEST_DELAY) return;
      const names = [target.name, ...relativesOf(target, mirror)];
      const isAbout = ({ name, message }: (typeof said)[number]): boolean =>
        names.includes(name) || message.includes(target.name ?? words);
      if (said.some(each => each.message.includes(words) && isAbout(each))) return;
      violate('I6', `${what} is denied since ${toIsoText(toEpochMs(since))}, and no Event says so: ${words}`);
      denied.set(`${what} ${words}`, { since: Infinity, last: now() });
    },
    onWrite({ resource, after, user }, by) {
      if (resource.resource !== 'events') return;
      const message = textOf(dig(after, 'message')) ?? '';
      const name = textOf(dig(after, 'involvedObject', 'name'));
      if (name === undefined || !message.includes(' denied request: ')) return;
      said.push({ name, message });
      const reason = textOf(dig(after, 'reason')) ?? '';
      const key = `${user} ${reason} ${textOf(dig(after, 'involvedObject', 'uid')) ?? name} ${message.replaceAll(/\d+/g, '')}`;
      const last = saidLast.get(key);
      const since = now() - (last?.time ?? -Infinity);
      if (since > SAID_TOGETHER) saidLast.set(key, { time: now(), run: [...writing].find(run => run.by === by) });
      if (!SAID_HOURLY.has(reason) || since <= SAID_TOGETHER || since >= HOUR - SAID_TOGETHER) return;
      if (last !== undefined && memoryOf(last.time) !== 'whole') return;
      if (last?.run !== undefined && isForgotten(last.run)) return;
      if (reason === OF_RULES && Math.max(...rules.values()) > (last?.time ?? -Infinity)) return;
      violate('I8', `${reason} is said of ${name} again after ${Math.round(since / 60_000)} min: ${message}`);
    },
  };
};

/** Whether the run died after its Event and before its record was stored: who comes after it says the same once more (I9). */
function isForgotten(run: Run): boolean {
  const event = run.calls.at(run.calls.findLastIndex(call => changedBy(call).resource === 'events'));
  return event === undefined || !isStoredAfter(event, run);
}

/** Names of what the object belongs to. */
function relativesOf(target: Target, mirror: Mirror): readonly (string | undefined)[] {
  const node = target.resource === 'pods' ? nodeOfPod(target, mirror) : target.name;
  const claims = [...mirror.all('nodeclaims').values()];
  const related = claims.filter(
    claim => claim.metadata.name === target.name || dig(claim, 'status', 'nodeName') === node,
  );
  return [node, ...related.flatMap(claim => [claim.metadata.name, textOf(dig(claim, 'status', 'nodeName'))])];
}
