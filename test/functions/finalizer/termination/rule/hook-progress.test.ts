import { describe, expect, it } from 'vitest';
import {
  afterAnswer,
  withAnswers,
  withLaterCalls,
} from '../../../../../functions/finalizer/termination/rule/hook-progress.ts';
import { toEpochMs } from '../../../../../shared/domain/time.ts';

const NOW = toEpochMs(1000);
const called = { phase: 'intended', firstInvokedTime: toEpochMs(0), lastSeenTime: toEpochMs(0), attempts: 1 } as const;
const resource = { group: 'example.com', version: 'v1', resource: 'backups', name: 'backup-1', seenVersion: '7' };

describe('an answer to a hook that waits for the next turn, because another run had written the record', () => {
  it('keeps where the custom resource is found, so that it is looked at', () => {
    const { backup } = withAnswers({ backup: called }, new Map([['backup', { kind: 'pending', resource }]]), NOW);
    expect(backup).toEqual({ ...called, phase: 'pending', lastSeenTime: NOW, resource });
  });

  it('is a mere heartbeat when it names none: what was known of the resource stays', () => {
    const { backup } = withAnswers(
      { backup: { ...called, resource } },
      new Map([['backup', { kind: 'pending' }]]),
      NOW,
    );
    expect(backup).toEqual({ ...called, phase: 'pending', lastSeenTime: NOW, resource });
  });
});

describe('an answer to the call that was just made', () => {
  it.each([
    ['is the end of the hook', { kind: 'succeeded' }, { phase: 'succeeded' }],
    [
      'says why it failed',
      { kind: 'failed', message: 'no space' },
      { phase: 'failed', message: 'no space', failureReport: { message: 'no space', time: NOW } },
    ],
    ['says where its custom resource is found', { kind: 'pending', resource }, { phase: 'pending', resource }],
  ] as const)('%s, and what it said before is forgotten', (_, answer, changed) => {
    const { message: _message, ...rest } = { ...called, message: '429' };
    expect(afterAnswer({ ...called, message: '429' }, answer, NOW)).toEqual({ ...rest, lastSeenTime: NOW, ...changed });
  });
});

describe('calls that two records of one instance know', () => {
  const later = { ...called, lastSeenTime: NOW, phase: 'succeeded' } as const;

  it.each([
    ['what only the other knows', {}, { backup: called }, { backup: called }],
    ['a hook called `constructor` that only the other knows', {}, { constructor: called }, { constructor: called }],
    ['the later look', { backup: called }, { backup: later }, { backup: later }],
    ['the later look of its own', { backup: later }, { backup: called }, { backup: later }],
    [
      'the later attempt of its own',
      { backup: { ...called, attempts: 2 } },
      { backup: later },
      { backup: { ...called, attempts: 2 } },
    ],
  ])('keep %s', (_, hooks, noted, kept) => {
    expect(withLaterCalls(hooks, noted)).toEqual(kept);
  });
});
