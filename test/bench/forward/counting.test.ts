import { describe, expect, it } from 'vitest';
import { readNodeFlags, readNodeOptions } from '../../../bench/forward/deployed.ts';
import { nextBatch } from '../../../bench/forward/pacing.ts';
import { comparePublished } from '../../../bench/forward/published.ts';
import { addUpMetric } from '../../../bench/forward/watchers.ts';
import type { Step } from '../../../bench/forward/workload.ts';
import { toDurationMs } from '../../../shared/domain/time.ts';

const step = (object: string, after: number, changes = 0): Step => ({
  object,
  after: toDurationMs(after),
  changes,
  write: () => {
    throw new Error('not carried out here');
  },
});

describe('comparePublished', () => {
  const steps = [step('Node/a', 0), step('Node/b', 0, 1), step('Node/b', 1, 2)];

  it.each([
    [{ 'Node/b': 3 }, { total: 3, changes: 3, forHeartbeats: 0, surplus: 0 }],
    [{ 'Node/b': 1 }, { total: 1, changes: 3, forHeartbeats: 0, surplus: 0 }],
    [{ 'Node/b': 4 }, { total: 4, changes: 3, forHeartbeats: 0, surplus: 1 }],
    [
      { 'Node/a': 2, 'Node/b': 3 },
      { total: 5, changes: 3, forHeartbeats: 2, surplus: 2 },
    ],
    [{ 'Node/stranger': 1 }, { total: 1, changes: 3, forHeartbeats: 1, surplus: 1 }],
  ])('of %j counts %j', (counts, expected) => {
    expect(comparePublished(steps, new Map(Object.entries(counts)))).toEqual(expected);
  });
});

describe('nextBatch', () => {
  const steps = [step('a', 0), step('b', 10), step('a', 10), step('c', 20)];

  it('takes what is due, and no object twice', () => {
    expect(nextBatch(steps, 0, 15)).toEqual(steps.slice(0, 2));
    expect(nextBatch(steps, 2, 15)).toEqual(steps.slice(2, 3));
    expect(nextBatch(steps, 3, 15)).toEqual([]);
  });

  it('takes a bounded number at once', () => {
    const many = Array.from({ length: 1000 }, (_unused, index) => step(String(index), 0));
    expect(nextBatch(many, 0, 0)).toHaveLength(64);
  });
});

describe('addUpMetric', () => {
  it('adds nodes and pods, and nothing else', () => {
    const metrics = [
      '# HELP curfew_forwarder_events_seen_total Watch and list entries received.',
      'curfew_forwarder_events_seen_total{resource="nodes"} 10',
      'curfew_forwarder_events_seen_total{resource="pods"} 5',
      'curfew_forwarder_events_seen_total{resource="configmaps"} 1',
      'curfew_forwarder_events_coalesced_total{resource="pods"} 3',
    ].join('\n');
    expect(addUpMetric(metrics, 'events_seen')).toBe(15);
    expect(addUpMetric(metrics, 'events_coalesced')).toBe(3);
    expect(addUpMetric('', 'events_seen')).toBe(0);
  });
});

describe('readNodeOptions', () => {
  it('finds them in the manifest that is deployed', () => {
    expect(readNodeOptions()).toContain('--max-old-space-size=');
  });

  it('finds those of the image', () => {
    expect(readNodeFlags()).toContain('--max-semi-space-size=8');
    expect(readNodeFlags('FROM x\nENTRYPOINT ["node", "--a", "--b=1", "/app/main.mjs"]')).toEqual(['--a', '--b=1']);
    expect(() => readNodeFlags('ENTRYPOINT ["deno", "main.ts"]')).toThrow('deno');
  });

  it('says so when there are none', () => {
    expect(() => readNodeOptions('kind: Service')).toThrow('no NODE_OPTIONS');
  });
});
