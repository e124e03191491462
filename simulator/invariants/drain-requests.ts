/** Who asked for drains of which node, told from what went over the bus. */
import type { BusEventSeen } from './invariant.ts';
import { dig, textOf } from './reading.ts';

export interface DrainRequestSeen {
  readonly time: number;
  readonly fault: string;
  readonly force: boolean;
  /** When somebody took it back. */
  endTime: number | undefined;
}

export interface DrainRequests {
  readonly onBusEvent: (event: BusEventSeen) => void;
  /** Of one node: those that nobody has taken back before `since`. */
  readonly open: (node: string, since: number) => readonly DrainRequestSeen[];
}

export function createDrainRequests(now: () => number): DrainRequests {
  /** By node, then by id. */
  const known = new Map<string, Map<string, DrainRequestSeen>>();
  const add = (node: string, id: string, request: Pick<DrainRequestSeen, 'fault' | 'force'>): void => {
    const requests = known.get(node) ?? new Map<string, DrainRequestSeen>();
    known.set(node, requests);
    if (!requests.has(id)) requests.set(id, { ...request, time: now(), endTime: undefined });
  };
  const end = (node: string, isMeant: (id: string, request: DrainRequestSeen) => boolean): void => {
    for (const [id, request] of known.get(node) ?? []) if (isMeant(id, request)) request.endTime ??= now();
  };
  return {
    onBusEvent({ detailType, detail }) {
      const text = (...path: string[]): string => textOf(dig(detail, ...path)) ?? '';
      if (detailType === 'DrainRequested') {
        const force = dig(detail, 'force') === true;
        return add(text('node', 'name'), text('id'), { fault: '', force });
      }
      if (detailType !== 'HealthEvent') return;
      const event = dig(detail, 'healthEvent') ?? detail;
      const status = dig(detail, 'healthEventStatus', 'nodeQuarantined');
      const node = textOf(dig(event, 'nodeName')) ?? '';
      const id = textOf(dig(event, 'id')) ?? '';
      const fault = ['agent', 'componentClass', 'checkName'].map(key => textOf(dig(event, key)) ?? '').join('/');
      if (status === 'UnQuarantined') return end(node, () => true);
      if (status === 'Cancelled') return end(node, each => each === id);
      if (dig(event, 'isHealthy') === true) return end(node, (_, request) => request.fault === fault);
      if (dig(event, 'drainOverrides', 'skip') === true) return;
      add(node, id, { fault, force: dig(event, 'drainOverrides', 'force') === true });
    },
    open: (node, since) =>
      [...(known.get(node)?.values() ?? [])].filter(({ endTime }) => endTime === undefined || endTime >= since),
  };
}
