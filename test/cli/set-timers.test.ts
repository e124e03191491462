import { describe, expect, it } from 'vitest';
import { describeTimers } from '../../cli/start/set-timers.ts';
import { at } from '../builders/repair.ts';

const CONFIGURATION = {
  owner: 'repair',
  subject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'curfew-config' },
} as const;
const NODE = {
  owner: 'repair',
  subject: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
  nextWakeTime: at('2024-11-01T15:12:48Z'),
} as const;

describe('the end of watching a cluster', () => {
  // Two records of the configuration were once counted as "2 records were open".
  it('names no timer when only the configuration was stored', () => {
    expect(describeTimers([CONFIGURATION, { ...CONFIGURATION, owner: 'drain' }])).toBe('No timer was set.');
  });

  it('names no timer of a round of settings or of the status of all policies', () => {
    const round = { ...NODE, subject: { ...NODE.subject, kind: 'Round', name: 'settings' } };
    const status = { ...NODE, subject: { ...NODE.subject, kind: 'NodeLifecyclePolicy', name: '*' } };
    expect(describeTimers([round, status])).toBe('No timer was set.');
  });

  it('names each timer with its subject', () => {
    expect(describeTimers([CONFIGURATION, NODE])).toBe(
      'Timers that were set: repair of Node n1 at 2024-11-01T15:12:48Z.',
    );
  });
});
