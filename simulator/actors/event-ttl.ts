/**
 * The API server's `--event-ttl`, for clusters to live in: an Event goes an hour after its last write. Scenarios end before that, or ask what was
 * said at any time, so the simulation runs without it.
 */
import { addDuration, hours, type EpochMs } from '../../shared/domain/time.ts';
import { follow, refOf, RESOURCE_TYPES, unlessRefused, type StartActor } from './actor.ts';

const USER = 'actor:event-ttl';
const TTL = hours(1);

export const startEventTtl: StartActor = ({ core, scheduler }) => {
  /** When each was last written, the oldest first. */
  const written = new Map<string, { readonly time: EpochMs; readonly remove: () => void }>();
  let isPlanned = false;

  const removeOld = (): void => {
    isPlanned = false;
    for (const [uid, { time, remove }] of written) {
      if (addDuration(time, TTL) > scheduler.now()) break;
      written.delete(uid);
      unlessRefused(remove);
    }
    plan();
  };
  const plan = (): void => {
    const [oldest] = written.values();
    if (oldest === undefined || isPlanned) return;
    isPlanned = true;
    scheduler.at(addDuration(oldest.time, TTL), removeOld);
  };
  follow(
    core,
    RESOURCE_TYPES.events,
    event => {
      const { uid } = event.metadata;
      const ref = refOf(RESOURCE_TYPES.events, event);
      written.delete(uid);
      written.set(uid, {
        time: scheduler.now(),
        remove: () => core.delete(ref, { user: USER, preconditions: { uid } }),
      });
      plan();
    },
    ({ metadata }) => written.delete(metadata.uid),
  );
};
