import { describe, expect, it } from 'vitest';
import { FIRST_LOOK, nextKind, type KindStep, type KindTransition } from '../../forwarder/kind-states.ts';
import type { WatchStatus } from '../../forwarder/watch-status.ts';
import { RetryableError } from '../../shared/errors.ts';

const KIND = { group: 'example.com', version: 'v1', kind: 'ManagedDatabase' };
const after = (...steps: readonly KindStep[]): KindTransition =>
  steps.reduce<KindTransition>(({ progress }, step) => nextKind(KIND, progress, step), { progress: FIRST_LOOK });

const status = (fields: Partial<WatchStatus>): KindStep => ({
  kind: 'watched',
  resource: 'manageddatabases',
  status: { state: 'synced', lastContactTime: undefined, problem: undefined, forbidden: false, ...fields },
});
const SYNCED = status({});
const BROKEN = status({ problem: 'connection reset' });
const MISSING = status({ state: 'notServed' });
const FOUND: KindStep = { kind: 'found' };
const REFUSED: KindStep = { kind: 'lookFailed', error: new RetryableError('no rights', { reason: 'Forbidden' }) };

describe('the watch of a custom kind', () => {
  it.each<{ name: string; steps: readonly KindStep[]; shows: object | undefined }>([
    { name: 'shows nothing before its first list', steps: [FOUND, status({ state: 'starting' })], shows: undefined },
    {
      name: 'shows that it watches',
      steps: [FOUND, SYNCED],
      shows: { state: 'Watching', resource: 'manageddatabases' },
    },
    {
      name: 'shows that the kind is not served',
      steps: [{ kind: 'unknown', versions: [] }],
      shows: { state: 'NotServed' },
    },
    { name: 'shows no failure that the next attempt may cure', steps: [FOUND, BROKEN, BROKEN], shows: undefined },
    { name: 'shows the third failure in a row', steps: [FOUND, BROKEN, BROKEN, BROKEN], shows: { state: 'Failing' } },
    { name: 'counts anew after a sign of life', steps: [FOUND, BROKEN, BROKEN, SYNCED, BROKEN], shows: undefined },
    { name: 'counts anew once the kind is found', steps: [REFUSED, REFUSED, FOUND, BROKEN], shows: undefined },
    {
      name: 'shows a refused watch at once',
      steps: [FOUND, status({ forbidden: true, problem: 'no rights' })],
      shows: { state: 'Forbidden', message: 'no rights' },
    },
    {
      name: 'shows a refused look at the third time',
      steps: [REFUSED, REFUSED, REFUSED],
      shows: { state: 'Forbidden' },
    },
    {
      name: 'shows that nobody serves what discovery knows at the third time',
      steps: [FOUND, MISSING, FOUND, MISSING, FOUND, MISSING],
      shows: { state: 'NotServed' },
    },
    {
      name: 'forgets earlier misses once it was listed',
      steps: [FOUND, MISSING, FOUND, MISSING, FOUND, SYNCED, MISSING],
      shows: undefined,
    },
  ])('$name', ({ steps, shows }) => {
    const { shows: shown } = after(...steps);
    if (shows === undefined) expect(shown).toBeUndefined();
    else expect(shown).toMatchObject(shows);
  });

  it('looks again when it is not served any more, and only then', () => {
    expect(after(FOUND, MISSING).looksAgain).toBe(true);
    for (const step of [SYNCED, BROKEN, status({ forbidden: true, problem: 'no rights' })])
      expect(after(FOUND, step).looksAgain).toBeUndefined();
  });
});
