/**
 * I9: words are true. An Event that says that a pod was evicted or deleted, or that a NodeClaim or instance is terminated, has that write
 * before it: of this run, or of an earlier one that died before it could say so.
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { MakeCheck } from './invariant.ts';
import { annotationOf, dig, TERMINATION_TIMESTAMP, textOf } from './reading.ts';
import { isKubernetes, targetOf } from './run-journal.ts';

/** Names of pods that one Event of a drain lists. */
const EVICTED = /^evicted \d+ pods?: (.+)$/;
const TERMINATED = /^NodeClaim (\S+) is terminated/;
const IN_ITS_GROUP = /^the instance is terminated in its Auto Scaling group/;
/** What is longer is cut, in the middle of a name perhaps; Kubernetes takes 1,024 bytes. */
const LONGEST_WHOLE = 900;

export const checkActsSaid: MakeCheck = ({ mirror, violate }) => {
  /** `evict UID`, `evict NAMESPACE/NAME`, `delete NAME`, `terminate PROVIDER-ID`. */
  const done = new Set<string>();
  /** What an Event says was done; none for one that says nothing of the kind. */
  const claimsOf = (event: unknown): readonly string[] => {
    const reason = textOf(dig(event, 'reason'));
    const message = textOf(dig(event, 'message')) ?? '';
    const uid = textOf(dig(event, 'involvedObject', 'uid')) ?? '';
    const isPod = dig(event, 'involvedObject', 'kind') === 'Pod';
    if (reason === EVENT_REASONS.evicted) {
      if (isPod) return [`evict ${uid}`];
      const names = EVICTED.exec(message)?.[1]?.split(', ') ?? [];
      return (message.length > LONGEST_WHOLE ? names.slice(0, -1) : names).map(name => `evict ${name}`);
    }
    if (reason === EVENT_REASONS.disrupted && isPod) return [`delete ${uid}`];
    if (reason !== EVENT_REASONS.nodeRepairStarted) return [];
    const claim = TERMINATED.exec(message)?.[1];
    if (claim !== undefined) return [`delete ${claim}`];
    const instance = textOf(dig(mirror.all('nodes').get(uid), 'spec', 'providerID'));
    return IN_ITS_GROUP.test(message) && instance !== undefined ? [`terminate ${instance}`] : [];
  };
  return {
    onCall(call, run) {
      // An answer may get lost.
      if (call.port === 'instances' && call.method.startsWith('terminate'))
        done.add(`terminate ${String(call.args[0])}`);
      if (!isKubernetes(call, 'create') || targetOf(call).resource !== 'events') return;
      const untrue = claimsOf(call.args[1]).find(claim => !done.has(claim));
      if (untrue === undefined) return;
      violate('I9', `${run.by} says "${textOf(dig(call.args[1], 'message')) ?? ''}", and has not done it: ${untrue}`);
    },
    onWrite({ verb, before, after, resource }) {
      if (before === undefined) return;
      const { uid, namespace, name, deletionTimestamp } = before.metadata;
      // One that somebody else has deleted is made to end by force.
      if (verb === 'patch' && resource.resource === 'nodeclaims' && deletionTimestamp !== undefined) {
        if (after !== undefined && annotationOf(after, TERMINATION_TIMESTAMP) !== undefined) done.add(`delete ${name}`);
      }
      if (verb !== 'evict' && verb !== 'delete') return;
      done.add(`${verb} ${uid}`);
      if (resource.resource === 'pods') done.add(`${verb} ${namespace ?? ''}/${name}`);
      if (resource.resource === 'nodeclaims') done.add(`${verb} ${name}`);
    },
  };
};
