/** I3 of `repairLimits`: who is under way takes a slot, as long as the table says that it is a repair. */
import { describe, expect, it } from 'vitest';
import { checkRepairLimits } from '../../../simulator/invariants/repair-limits.ts';
import { toldRepair, UNHEALTHY } from '../../builders/told-repair.ts';

/** Two nodes that are ill, where one repair may be under way in the cluster. */
function told() {
  const one = toldRepair(checkRepairLimits);
  one.setPolicy({ repairLimits: { maxConcurrentRepairsPerCluster: 1 } });
  for (const name of ['n1', 'n2']) one.node({ name, conditions: UNHEALTHY });
  one.at(5);
  return one;
}

const deletes = (one: ReturnType<typeof told>, name: string): void => {
  one.terminate(name);
  one.node({ name, conditions: UNHEALTHY, claim: { deleted: 5 } });
};
const TOO_MANY = ['I3: repair of Node n2 (uid node-n2) begins while 1 are under way in its cluster, 1 may be'];

describe('the most repairs under way', () => {
  it.each<readonly [string, (one: ReturnType<typeof told>) => void, readonly string[]]>([
    ['count a termination', one => deletes(one, 'n1'), TOO_MANY],
    ['count a reboot', one => one.reboot('n1'), TOO_MANY],
    ['count no termination that a lost table alone knew', one => (deletes(one, 'n1'), one.loseTable()), []],
    ['count no reboot that a lost table alone knew', one => (one.reboot('n1'), one.loseTable()), []],
    ['count what began after the table was lost', one => (one.loseTable(), one.at(6), deletes(one, 'n1')), TOO_MANY],
  ])('%s', (_, happens, complaints) => {
    const one = told();
    happens(one);
    one.at(7);
    one.terminate('n2');
    expect(one.found).toEqual(complaints);
  });
});
