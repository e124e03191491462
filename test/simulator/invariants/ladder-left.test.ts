import { describe, expect, it } from 'vitest';
import { checkLadderLeft } from '../../../simulator/invariants/ladder-left.ts';
import { toldRepair } from '../../builders/told-repair.ts';

/** A NodeFix of a Node that goes, and half an hour of looks. @param lost minute in which the table is lost */
function left(lost?: number): readonly string[] {
  const told = toldRepair(checkLadderLeft);
  told.setConfig('[featureGates]\nnodeRepair = true');
  told.at(1);
  told.fix('n');
  for (let minute = 2; minute < 30; minute += 1) {
    told.at(minute);
    if (minute === lost) told.loseTable();
    told.look();
  }
  return told.found;
}

describe('a custom resource of a repair', () => {
  it('goes when its node is gone', () => {
    expect(left()).toEqual([expect.stringMatching(/^I7: repair left NodeFix n .* behind, which it has made$/)]);
  });

  it('may stay once the table has forgotten it', () => {
    expect(left(3)).toEqual([]);
  });
});
