/**
 * I7: what Curfew began and did not carry out, it takes back. The annotation that makes a termination forceful must not stay on a
 * NodeClaim that is not being deleted: the next graceful deletion would be one at once.
 */
import { LONGEST_DELAY, type MakeCheck } from './invariant.ts';
import { annotationOf, nameOf, TERMINATION_TIMESTAMP } from './reading.ts';

export const checkLeftBehind: MakeCheck = ({ mirror, now, quietSince, lastDenial, violate }) => {
  /** By UID of the NodeClaim: what Curfew wrote last, when, and what somebody else had there before. */
  const written = new Map<string, { readonly value: string; readonly time: number; readonly theirs?: string }>();
  return {
    onWrite({ resource, before, after }) {
      if (resource.resource !== 'nodeclaims' || before === undefined || after === undefined) return;
      const { uid } = after.metadata;
      const value = annotationOf(after, TERMINATION_TIMESTAMP);
      const old = annotationOf(before, TERMINATION_TIMESTAMP);
      if (value === old) return;
      const known = written.get(uid);
      const theirs = known?.value === old ? known?.theirs : old;
      if (value === undefined || value === theirs) written.delete(uid);
      else written.set(uid, { value, time: now(), ...(theirs !== undefined && { theirs }) });
    },
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined || written.size === 0) return;
      const claims = mirror.all('nodeclaims');
      for (const [uid, { value, time }] of written) {
        const claim = claims.get(uid);
        const isOurs = claim !== undefined && annotationOf(claim, TERMINATION_TIMESTAMP) === value;
        if (!isOurs || claim.metadata.deletionTimestamp !== undefined) written.delete(uid);
        else if (now() - Math.max(time, quiet, lastDenial('nodeclaims', claim.metadata)) > LONGEST_DELAY) {
          violate(
            'I7',
            `repair left its termination timestamp ${value} on ${nameOf(claim)}, which is not being deleted`,
          );
          written.delete(uid);
        }
      }
    },
  };
};
