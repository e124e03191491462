/** Whom `curfew explain` names as asking for a drain that several have asked for. */
import { describe, expect, it } from 'vitest';
import { explain } from '../../../cli/explain.ts';
import { whoAsks } from '../../../cli/explain/drain-record.ts';
import { onScenario } from '../../../cli/explain/on-scenario.ts';

const REPAIR_ENDS_FIRST = 'examples/scenarios/repair-shares-a-drain.yaml#repair-opens-no-node-that-is-drained';

describe('a drain of repair that a HealthEvent joins', () => {
  it.each([
    ['32m', true, 'asked for by repair, 2024-11-01T15:31:00Z (1m0s ago): '],
    ['40m', true, 'asked for by repair and by m, 2024-11-01T15:31:00Z (9m0s ago): '],
    ['57m', true, 'asked for by m, 2024-11-01T15:33:00Z (24m0s ago): '],
    ['57m', false, 'asked for by repair, when it began, 2024-11-01T15:33:00Z (24m0s ago): '],
  ])('is asked for at %s (records are read: %j) as %s', async (at, reads, text) => {
    const found = await onScenario(REPAIR_ENDS_FIRST, at, cluster =>
      explain(reads ? cluster : { ...cluster, records: undefined }, { kind: 'node', name: 'a-0' }, false),
    );
    expect(found).toContain(text);
  });
});

describe('who asks for a drain', () => {
  const OF_REPAIR = 'uid-n1.1730474100000';
  const byRepair = { id: OF_REPAIR, requestedBy: 'curfew.repair' };
  const byPerson = (id: string) => ({ id, requestedBy: 'node-annotation' });
  const known = (...requests: (typeof byRepair)[]) => ({ requests, over: undefined });

  it.each([
    [
      'a person who joined it',
      OF_REPAIR,
      'r1',
      known(byRepair, byPerson('r1')),
      'repair and by a person, on the node (r1)',
    ],
    ['the person who is left', OF_REPAIR, 'r1', known(byPerson('r1')), 'a person, on the node (r1)'],
    ['a person by the id', 'r1', 'r1', undefined, 'a person, on the node'],
    [
      'a person beside repair, by the Node alone',
      OF_REPAIR,
      'r1',
      undefined,
      'repair, when it began, and by a person, on the node (r1)',
    ],
    ['nobody by the id of a HealthEvent', 'e1', undefined, undefined, undefined],
    ['repair of another node of that name by no id', 'uid-n0.1730474100000', undefined, undefined, undefined],
    ['each source once', 'e1', undefined, known({ id: 'e1', requestedBy: 'm' }, { id: 'e2', requestedBy: 'm' }), 'm'],
  ])('is %s', (_name, id, asked, drain, text) => {
    expect(whoAsks(id, { uid: 'uid-n1' }, asked, drain)).toBe(text);
  });
});
