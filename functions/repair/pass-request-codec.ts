/** A request for a pass, as the coalescer keeps it while it waits. Another version may have written it. */
import { answer } from './attempt-record.ts';
import { mergeRequests, type PassRequest, type PassRequests } from './rule/pass-requests.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { readJson } from '../../shared/domain/json.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { Ask } from '../../shared/lifecycle/next-round.ts';

export const FOR_POOL: PassRequest = { kind: 'pool' };

export const FOR_SETTINGS: PassRequest = { kind: 'settings' };

export const forNode = (uid: string, observedTime?: EpochMs): PassRequest => ({ kind: 'node', uid, observedTime });

const POOL_SCOPE = 'due';

const SETTINGS_SCOPE = 'settings';

export function toAsk(ask: PassRequest): Ask {
  switch (ask.kind) {
    case 'pool':
      return { kind: 'scope', name: POOL_SCOPE };
    case 'settings':
      return { kind: 'scope', name: SETTINGS_SCOPE };
    case 'node': {
      const { uid, observedTime } = ask;
      return { kind: 'scope', name: observedTime === undefined ? uid : `${uid}@${observedTime}` };
    }
    case 'drainEnd':
      return { kind: 'message', text: JSON.stringify({ uid: ask.uid, ...ask.end }) };
  }
}

const drainEnd = z.object({ uid: z.string(), requestId: z.string(), answer });

function parsePassRequest(ask: Ask): PassRequest {
  switch (ask.kind) {
    case 'all':
      return FOR_SETTINGS;
    case 'scope': {
      if (ask.name === POOL_SCOPE) return FOR_POOL;
      if (ask.name === SETTINGS_SCOPE) return FOR_SETTINGS;
      const [uid = '', time] = ask.name.split('@');
      if (time === undefined) return forNode(uid, undefined);
      const { data: observedTime } = instant.safeParse(Number(time));
      // Another version wrote it: it may be about any node.
      return observedTime === undefined ? FOR_SETTINGS : forNode(uid, observedTime);
    }
    case 'message': {
      const { data } = drainEnd.safeParse(readJson(ask.text));
      if (data === undefined) return FOR_SETTINGS;
      const { uid, ...end } = data;
      return { kind: 'drainEnd', uid, end };
    }
  }
}

export const readAsks = (asks: readonly Ask[]): PassRequests => mergeRequests(asks.map(parsePassRequest));
