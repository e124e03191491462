/** What a pass is asked for, and how the coalescer keeps that while it waits (`shared/lifecycle/coalesce.ts`). */
import { answer, type EndedDrain } from './record.ts';
import * as z from '../../shared/contract/zod.ts';
import { readJson } from '../../shared/domain/json.ts';
import { type EpochMs, toEpochMs } from '../../shared/domain/time.ts';
import type { Ask } from '../../shared/lifecycle/next-round.ts';

export type PassAsk =
  /** Whatever is due. */
  | { readonly kind: 'pool' }
  /** A look at this node. @property observedTime when its conditions were seen to change; undefined: the reason is another one */
  | { readonly kind: 'node'; readonly uid: string; readonly observedTime: EpochMs | undefined }
  /** A drain has ended that a repair of this node had requested. */
  | { readonly kind: 'drainEnd'; readonly uid: string; readonly end: EndedDrain };

export const FOR_POOL: PassAsk = { kind: 'pool' };

export const forNode = (uid: string, observedTime?: EpochMs): PassAsk => ({ kind: 'node', uid, observedTime });

const POOL_NAME = 'due';

export function toAsk(ask: PassAsk): Ask {
  switch (ask.kind) {
    case 'pool':
      return { kind: 'scope', name: POOL_NAME };
    case 'node': {
      const { uid, observedTime } = ask;
      return { kind: 'scope', name: observedTime === undefined ? uid : `${uid}@${observedTime}` };
    }
    case 'drainEnd':
      return { kind: 'message', text: JSON.stringify({ uid: ask.uid, ...ask.end }) };
  }
}

const drainEnd = z.object({ uid: z.string(), requestId: z.string(), answer });

function ofAsk(ask: Ask): PassAsk {
  switch (ask.kind) {
    case 'all':
      return FOR_POOL;
    case 'scope': {
      if (ask.name === POOL_NAME) return FOR_POOL;
      const [uid = '', time] = ask.name.split('@');
      return forNode(uid, time === undefined ? undefined : toEpochMs(Number(time)));
    }
    case 'message': {
      const { data } = drainEnd.safeParse(readJson(ask.text));
      // Another version wrote it: it may be about any node.
      if (data === undefined) return FOR_POOL;
      const { uid, ...end } = data;
      return { kind: 'drainEnd', uid, end };
    }
  }
}

export interface Asked {
  /** Of the nodes that are named. */
  readonly uids: ReadonlySet<string>;
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /** The latest change, if the pass is for changes alone: a node that it finds unhealthy for the first time has changed, too. */
  readonly changesTime: EpochMs | undefined;
  readonly drainEnds: ReadonlyMap<string, EndedDrain>;
}

/** All that a pass is asked for. */
export function readAsks(asks: readonly Ask[]): Asked {
  const uids = new Set<string>();
  const observedTimes = new Map<string, EpochMs>();
  const drainEnds = new Map<string, EndedDrain>();
  let isOfPool = false;
  for (const ask of asks.map(ofAsk)) {
    if (ask.kind !== 'pool') uids.add(ask.uid);
    switch (ask.kind) {
      case 'pool':
        isOfPool = true;
        break;
      case 'node': {
        const { uid, observedTime: time } = ask;
        // By the first of several changes the node became unhealthy.
        if (time !== undefined) observedTimes.set(uid, toEpochMs(Math.min(time, observedTimes.get(uid) ?? time)));
        break;
      }
      case 'drainEnd':
        drainEnds.set(ask.uid, ask.end);
    }
  }
  const isOfChanges = !isOfPool && observedTimes.size > 0 && [...uids].every(uid => observedTimes.has(uid));
  const changesTime = isOfChanges ? toEpochMs(Math.max(...observedTimes.values())) : undefined;
  return { uids, observedTimes, changesTime, drainEnds };
}
