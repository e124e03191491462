/** I7: the maintenance of a reboot goes when its time is over. */
import { describe, expect, it } from 'vitest';
import { checkMaintenanceLeft } from '../../../simulator/invariants/maintenance-left.ts';
import { UNHEALTHY, toldRepair } from '../../builders/told-repair.ts';

const LADDER = { actions: [{ type: 'Reboot', timeout: '20m' }] };

/** Maintained from minute 0 until that minute, if ever; looked at every minute of the first hour. */
function hour(reason: string, until = Infinity): readonly string[] {
  const told = toldRepair(checkMaintenanceLeft, LADDER);
  const maintained = [...UNHEALTHY, ['MaintenanceInProgress', 'True', 0, reason]] as never;
  told.node({ name: 'n', conditions: maintained });
  for (let minute = 1; minute <= 60; minute++) {
    told.at(minute);
    if (minute === until) told.node({ name: 'n', conditions: UNHEALTHY });
    told.look();
  }
  return told.found;
}

describe('maintenance on a Node', () => {
  it('has the time of the last of its reboots', () => {
    const told = toldRepair(checkMaintenanceLeft, LADDER);
    const conditions = [...UNHEALTHY, ['MaintenanceInProgress', 'True', 0, 'CurfewReboot']] as never;
    for (let minute = 0; minute <= 120; minute++) {
      told.at(minute);
      if (minute % 30 === 0 && minute <= 60)
        told.node({ name: 'n', conditions, annotations: { 'curfew.dev/last-reboot': String(minute) } });
      told.look();
      if (minute <= 105) expect({ minute, found: told.found }).toEqual({ minute, found: [] });
    }
    expect(told.found).toHaveLength(1);
  });

  it.each([
    ['of ours that stays', 'CurfewReboot', Infinity, 1],
    ['of ours that goes in time', 'CurfewReboot', 25, 0],
    ['of somebody else', 'PlannedByVendor', Infinity, 0],
  ])('%s', (_, reason, until, count) => {
    expect(hour(reason, until)).toHaveLength(count);
  });
});
