/** I7: what repair has made goes once the node is well: drains are called off, custom resources deleted. */
import { LONGEST_DELAY, type CheckContext, type MakeCheck } from './invariant.ts';
import { configurationIn } from './mirror.ts';
import { wasDone, wasRefused, type Act } from './ladder-acts.ts';
import { createClimbers, type Climb, type Climbers } from './ladder.ts';
import { isPolicyReadable, repairBlockFor } from './policy-oracle.ts';
import { annotationOf, instanceOfNode, nameOf } from './reading.ts';
import { isGateOpen } from './repair-oracle.ts';

const REPAIR_ANNOTATION = 'curfew.dev/repair';
const FIXES = 'nodefixes.ops.example.com';

export const checkLadderLeft: MakeCheck = context => {
  const climbers = createClimbers(context);
  return {
    onCall: (call, run) => climbers.onCall(call, run),
    onBusEvent: event => climbers.onBusEvent(event),
    onMinute: lookForLeft(context, climbers),
  };
};

function lookForLeft(context: CheckContext, climbers: Climbers): () => void {
  const { mirror, now, quietSince, memoryOf, violate } = context;
  /** Since when nothing needs what repair has made: by UID of the custom resource, or by id of the drain. */
  const unneeded = new Map<string, number>();
  return () => {
    const quiet = quietSince();
    const config = configurationIn(mirror);
    if (quiet === undefined || isGateOpen(config) !== true) return unneeded.clear();
    const complain = (key: string, uid: string, why: string, denied = -Infinity): void => {
      if (isNeeded(uid, climbers.get(uid), context)) return void unneeded.delete(key);
      const since = Math.max(unneeded.get(key) ?? now(), denied);
      unneeded.set(key, since);
      if (now() - Math.max(since, quiet) <= LONGEST_DELAY) return;
      violate('I7', why);
      unneeded.set(key, Infinity);
    };
    for (const fix of context.objects(FIXES)) {
      const [, uid, intended] = /^(.+)\.(\d+)$/.exec(annotationOf(fix, REPAIR_ANNOTATION) ?? '') ?? [];
      const why = `repair left ${nameOf(fix)} behind, which it has made`;
      // The table alone says which resources a repair has made.
      if (uid !== undefined && memoryOf(Number(intended)) === 'whole')
        complain(fix.metadata.uid, uid, why, context.lastDenial('nodefixes', fix.metadata));
    }
    for (const [uid, { acts }] of climbers.all()) {
      const open = acts.find(({ kind, id }) => kind === 'Drain' && climbers.drainEnd(id) === undefined);
      if (open === undefined || wasRefused(open) || isTerminated(uid, acts, context)) continue;
      complain(open.id, uid, `repair has not called off the drain ${open.id}, although its node is well`);
    }
  };
}

/** Whether the repair may still go on: the node is unhealthy, or an action has time left, or nothing says how it is repaired. */
function isNeeded(uid: string, climb: Climb | undefined, { mirror, now }: CheckContext): boolean {
  const node = mirror.all('nodes').get(uid);
  if (node === undefined) return false;
  if (climb?.wellSince === undefined || now() < climb.until) return true;
  const pool = mirror.named('nodepools', climb.pool);
  const policies = [...mirror.all('nodelifecyclepolicies').values()];
  return !policies.every(isPolicyReadable) || repairBlockFor(pool, policies) === undefined;
}

/** Its NodeClaim is on its way, or its instance in its Auto Scaling group: a drain helps the pods as long as it is. */
function isTerminated(uid: string, acts: readonly Act[], { mirror }: CheckContext): boolean {
  if (acts.some(({ kind, calls }) => kind === 'Terminate' && calls.some(wasDone))) return true;
  const claims = mirror.ownership().claimsOf(instanceOfNode(mirror.all('nodes').get(uid)) ?? '');
  return claims.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
}
