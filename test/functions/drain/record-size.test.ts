import { describe, expect, it } from 'vitest';
import { admit, remember, toFinished } from '../../../functions/drain/admission.ts';
import type { DrainOutcome, DrainRecord } from '../../../functions/drain/model.ts';
import { DRAIN_CODEC } from '../../../functions/drain/record.ts';
import { active, modes, NOW, observation, request } from './observations.ts';

/** DynamoDB refuses an item above it, and with it each further step of the drain. */
const ITEM_BYTES = 400 * 1024;
const bytesOf = (record: DrainRecord): number => Buffer.byteLength(JSON.stringify(DRAIN_CODEC.toState(record)));

const FULL_NODE: DrainOutcome = {
  status: 'Succeeded',
  reason: 'PodsLeft',
  message: '250 pods are left',
  left: Array.from({ length: 250 }, (_, pod) => `team-with-a-long-name/workload-with-a-long-name-${pod} (Terminating)`),
};
const end = (id: string) => toFinished(request(id), FULL_NODE, { now: NOW, scope: { kind: 'full' }, drained: 0 });

describe('the record of the drains of a node', () => {
  it('forgets the oldest ends when those of fifty requests name all pods of a large node', () => {
    const ended = Array.from({ length: 50 }, (_, index) => end(`e${index}`));
    const record = remember({ requests: [], finished: [] }, ended);
    expect(bytesOf(record)).toBeLessThan(ITEM_BYTES / 2);
    expect(record.finished.at(-1)).toEqual(ended.at(-1));
    expect(record.finished).toEqual(ended.slice(-record.finished.length));
  });

  it('takes no further request when those that wait are long', () => {
    const long = (id: string) => request(id, { message: 'x'.repeat(60_000) });
    const waiting = observation({
      rules: modes('Immediate'),
      record: { active: active(), requests: [], finished: [] },
    });
    let { record } = waiting;
    const answers: string[] = [];
    for (let index = 2; index < 12; index++) {
      const admission = admit({ ...waiting, record }, long(`e${index}`));
      if (admission === undefined) continue;
      record = admission.record;
      if (admission.kind === 'answer') answers.push(admission.answer.reason);
    }
    expect(answers).toContain('TooManyRequests');
    expect(bytesOf(record)).toBeLessThan(ITEM_BYTES / 2);
  });

  it('takes a long request when none waits', () => {
    const alone = observation({ rules: modes('Immediate'), record: { requests: [], finished: [] } });
    expect(admit(alone, request('e2', { message: 'x'.repeat(60_000) }))).toMatchObject({ kind: 'take' });
  });
});
