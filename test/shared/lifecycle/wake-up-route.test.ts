import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { kindRoute, routeWakeUp, type WakeUpRoute } from '../../../shared/lifecycle/wake-up-route.ts';

const wakeUpOf = (kind: string, name: string) => ({
  subject: { apiVersion: 'v1', kind, name },
  wakeTime: toEpochMs(0),
  repeated: true,
});

async function routed(kind: string, name: string): Promise<readonly string[]> {
  const woken: string[] = [];
  const routes: readonly WakeUpRoute[] = [
    { takes: subject => subject.name === 'all', timerDue: async () => woken.push('all') },
    kindRoute('Node', async ({ subject, repeated }) => woken.push(`node ${subject.name} ${repeated}`)),
  ];
  await routeWakeUp(routes, wakeUpOf(kind, name));
  return woken;
}

describe('a wake-up', () => {
  it('goes whole to the part that takes its subject', async () => {
    expect(await routed('Node', 'n1')).toEqual(['node n1 true']);
  });

  it('goes to the first of two that take it', async () => {
    expect(await routed('Node', 'all')).toEqual(['all']);
  });

  it('that no part takes is done with', async () => {
    expect(await routed('Pod', 'p1')).toEqual([]);
  });
});
