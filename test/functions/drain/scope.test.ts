import { describe, expect, it } from 'vitest';
import { covers, FULL, scopeOf, type DrainScope } from '../../../functions/drain/scope.ts';
import type { Entity } from '../../../shared/domain/health-event.ts';

const RESET = 2;
const gpu = (entityValue: string): Entity => ({ entityType: 'GPU_UUID', entityValue });
const nic: Entity = { entityType: 'NIC', entityValue: 'mlx5_0' };
const wanted = (entitiesImpacted: readonly Entity[], enabled = true, recommendedAction = RESET) =>
  scopeOf({ recommendedAction, entitiesImpacted }, enabled);
const entities = (...uuids: string[]): DrainScope => ({ kind: 'entities', entities: uuids });

describe('the scope of a drain', () => {
  it('52: is full while partial drains are disabled', () => {
    expect(wanted([gpu('GPU-1')], false)).toEqual(FULL);
  });
  it('is full for any action but COMPONENT_RESET', () => {
    expect([24, 0, 5, 99].map(action => wanted([gpu('GPU-1')], true, action))).toEqual([FULL, FULL, FULL, FULL]);
  });
  it('54: is the GPU', () => {
    expect(wanted([gpu('GPU-1')])).toEqual(entities('GPU-1'));
  });
  it.each([
    ['55: only a NIC', [nic]],
    ['56: a GPU without a value', [gpu('')]],
    ['10: only a PCI entity', [{ entityType: 'PCI', entityValue: '0000:3b:00' }]],
    ['no entity at all', []],
  ])('%s is not usable, and never becomes a full drain', (_, list) => {
    expect(wanted(list)).toEqual({ kind: 'unusable', message: 'no supported entities for a partial drain found' });
  });
  it('58: is the GPU where a NIC comes first', () => {
    expect(wanted([nic, gpu('GPU-1')])).toEqual(entities('GPU-1'));
  });
  it('is every GPU of the event, once', () => {
    expect(wanted([gpu('GPU-2'), gpu('GPU-1'), gpu('GPU-2')])).toEqual(entities('GPU-1', 'GPU-2'));
  });
});

describe('one drain covers another', () => {
  it.each([
    ['43: full, full', FULL, FULL, true],
    ['44: full, partial', FULL, entities('A'), true],
    ['46: partial, the same', entities('A'), entities('A'), true],
    ['47: partial, another', entities('A'), entities('B'), false],
    ['partial, full', entities('A'), FULL, false],
    ['more, less', entities('A', 'B'), entities('B'), true],
    ['less, more', entities('A'), entities('A', 'B'), false],
  ])('%s: %#', (_, earlier, later, expected) => {
    expect(covers(earlier, later)).toBe(expected);
  });
});
