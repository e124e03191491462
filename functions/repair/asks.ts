/** What a pass is asked for, as names of the coalescer carry it. Pure. */
import { EXACT, isWhole, type Scopes } from '../../shared/lifecycle/next-round.ts';
import { toEpochMs, type EpochMs } from '../../shared/domain/time.ts';
import type { EndedDrain } from './actions/drain.ts';

/** A pass, for no node of its own. */
export const ANY = 'due';

/** A node that is ill or known. @param observedTime when the forwarder saw the change of it; undefined: it is no such change */
export const nodeAsk = (uid: string, observedTime?: EpochMs): string =>
  observedTime === undefined ? uid : `${uid}@${observedTime}`;

/** A drain that a repair of the node asked for has ended. */
export const drainAsk = (uid: string, ended: EndedDrain): string => `${EXACT}${JSON.stringify({ uid, ...ended })}`;

export interface Asked {
  /** More nodes than are named. */
  readonly isWhole: boolean;
  readonly uids: ReadonlySet<string>;
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /** The pass is for changes alone: what it finds ill for the first time has changed, too. */
  readonly changesTime: EpochMs | undefined;
  readonly drainEnds: ReadonlyMap<string, EndedDrain>;
}

export function readAsks(scopes: Scopes): Asked {
  const uids = new Set<string>();
  const observedTimes = new Map<string, EpochMs>();
  const drainEnds = new Map<string, EndedDrain>();
  for (const name of scopes === 'all' ? [] : scopes) {
    if (name.startsWith(EXACT)) {
      const { uid, ...ended }: EndedDrain & { readonly uid: string } = JSON.parse(name.slice(EXACT.length));
      drainEnds.set(uid, ended);
      uids.add(uid);
      continue;
    }
    const [uid = '', time] = name.split('@');
    uids.add(uid);
    const ms = toEpochMs(Number(time ?? 0));
    // The first change is the one that it became ill with.
    if (time !== undefined) observedTimes.set(uid, toEpochMs(Math.min(ms, observedTimes.get(uid) ?? ms)));
  }
  const isOfChanges = observedTimes.size > 0 && [...uids].every(uid => observedTimes.has(uid)) && !isWhole(scopes);
  const changesTime = isOfChanges ? toEpochMs(Math.max(...observedTimes.values())) : undefined;
  uids.delete(ANY);
  return { isWhole: isWhole(scopes), uids, observedTimes, changesTime, drainEnds };
}
