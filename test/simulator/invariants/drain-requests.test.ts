import { describe, expect, it } from 'vitest';
import { createDrainRequests } from '../../../simulator/invariants/drain-requests.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const FAULT = { id: 'e1', nodeName: 'n1', agent: 'monitor', componentClass: 'GPU', checkName: 'xid', isFatal: true };
const RECOVERY = { ...FAULT, id: 'e1-over', isFatal: false, isHealthy: true };

function requestsOf() {
  let now = 0;
  const requests = createDrainRequests({ now: () => toEpochMs(now), memoryOf: () => 'whole' });
  return {
    requests,
    say(detail: unknown) {
      now += 60_000;
      requests.onBusEvent({ detailType: 'HealthEvent', detail });
    },
    open: () => requests.open('n1', Infinity).map(({ id }) => id),
  };
}

describe('a fault that is reported again under its id after it recovered', () => {
  it('is the same one to a drain that has met it before', () => {
    const { say, open } = requestsOf();
    for (const detail of [FAULT, RECOVERY, FAULT]) say(detail);
    expect(open()).toEqual([]);
  });

  it('is a new one to a drain that takes it only now, until it recovers once more', () => {
    const { requests, say, open } = requestsOf();
    for (const detail of [FAULT, RECOVERY, FAULT]) say(detail);
    requests.onTaken('n1', 'e1');
    expect(open()).toEqual(['e1']);
    say(RECOVERY);
    expect(open()).toEqual([]);
  });

  it('stays over if it was not reported again', () => {
    const { requests, say, open } = requestsOf();
    for (const detail of [FAULT, RECOVERY]) say(detail);
    requests.onTaken('n1', 'e1');
    expect(open()).toEqual([]);
  });
});
