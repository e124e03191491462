/** An audit line says as fields which settings decided and which numbers a guard saw: nobody has to read them out of its message. */
import { expect, it } from 'vitest';
import { GATE, nodeObjects, simulate } from './simulate.ts';

const details = async (repair: string, decision: string): Promise<unknown> => {
  const { trace } = await simulate(`${GATE}  objects:\n${nodeObjects('a', 'False', repair)}`);
  return trace.find(({ kind, line }) => kind === 'audit' && line['decision'] === decision)?.line['details'];
};
const place = (field: string) => ({ kind: 'NodePool', name: 'a', field });

it.each([
  ['{ defaultTolerationDuration: 10m }', 'spec.repair.defaultTolerationDuration'],
  ['{ policies: [{ conditionType: Ready, toleration: 10m }] }', 'spec.repair.policies'],
])('%s: names the field that the due time comes from', async (repair, field) => {
  expect(await details(repair, 'tolerate')).toMatchObject({ decidedBy: [place(field)] });
  expect(await details(repair, 'repair')).toMatchObject({ decidedBy: [place(field)], action: 'Terminate' });
});

it("names no field for the provider's default", async () => {
  expect(await details('{}', 'tolerate')).not.toHaveProperty('decidedBy');
});

it('names the guard, and the numbers that it saw', async () => {
  const repair = '{ defaultTolerationDuration: 10m, maxUnhealthy: 0 }';
  expect(await details(repair, 'blocked')).toMatchObject({
    guard: { unhealthy: 1, of: 1, allowed: 0 },
    decidedBy: [place('spec.repair.maxUnhealthy')],
  });
});
