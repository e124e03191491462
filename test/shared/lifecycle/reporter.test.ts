import { expect, it } from 'vitest';
import { createReporter, type Report } from '../../../shared/lifecycle/reporter.ts';

const reportOf = (name: string, withEvent: boolean): Report => ({
  about: { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ci', name, uid: `uid-${name}` } },
  decision: 'elapsed',
  reason: 'Ended',
  message: `${name} ended`,
  metric: { name: 'Ended' },
  ...(withEvent && { event: { type: 'Normal' } }),
});

it('of many reports the lines and metrics come first, then the Events of those that have one', async () => {
  const said: string[] = [];
  const reporter = createReporter('grace-period', {
    audit: { write: ({ name }) => void said.push(`line ${name}`) },
    metrics: { count: name => void said.push(`metric ${name}`), milliseconds: () => undefined },
    events: { record: async ({ about, message }) => void said.push(`Event ${about.metadata.name}: ${message}`) },
  });
  await reporter.reportAll([reportOf('a', true), reportOf('b', false), reportOf('c', true)], 2);
  expect(said).toEqual([
    'line a',
    'metric Ended',
    'line b',
    'metric Ended',
    'line c',
    'metric Ended',
    'Event a: a ended',
    'Event c: c ended',
  ]);
});
