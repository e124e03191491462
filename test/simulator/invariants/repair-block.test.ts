/** The checks and Curfew read policies apart from each other, and accept the same ones. */
import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { parsePolicyFrame } from '../../../shared/contract/policy-schema.ts';
import { parseProtectionBlock } from '../../../shared/contract/protection-schema.ts';
import { parseRepairLimits } from '../../../shared/contract/repair-limits-schema.ts';
import { parseRepairBlock } from '../../../shared/contract/repair-schema.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { isFrameReadable } from '../../../simulator/invariants/reading.ts';
import { isProtectionReadable } from '../../../simulator/invariants/protection-oracle.ts';
import { isLimitsReadable, isRepairReadable } from '../../../simulator/invariants/repair-block.ts';
import { REPAIR_BLOCK } from '../../builders/repair-block.ts';
import { withoutStacks } from '../../builders/without-stacks.ts';
import { assertEach, hostileJson } from '../../fuzz/hostile.ts';

withoutStacks();

const BLOCK = {
  ...REPAIR_BLOCK,
  actions: [
    { type: 'Reboot', timeout: '10m' },
    { type: 'CustomResource', template: 'fix.yaml' },
    { type: 'Terminate' },
  ],
  nodesWithoutNodeClaim: 'Ignore',
};

const MISTAKES: readonly JsonObject[] = [
  { defaultTolerationDuration: '-5m' },
  { defaultTolerationDuration: 30 },
  { policies: [{ conditionType: 'Ready', toleration: '10x' }] },
  { policies: [{ conditionType: '', toleration: '1m' }] },
  { policies: [...Array(2)].map(() => ({ conditionType: 'Ready', toleration: '1m' })) },
  { conditions: [{ type: 'A', status: 'Maybe', toleration: '1m' }] },
  { conditions: [{ type: 'A', status: 'True', reason: '(?=x)', toleration: '1m' }] },
  { conditions: [{ type: 'A', status: 'True' }] },
  { maxUnhealthy: '120%' },
  { maxUnhealthy: '007%' },
  { maxUnhealthy: 1.5 },
  { maxConcurrentRepairs: -1 },
  { zoneOutage: 'On' },
  { zoneOutage: { minNodes: 0 } },
  { freeze: { share: '55' } },
  { freeze: true },
  { actions: [] },
  { actions: [{ type: 'Explode' }] },
  { actions: [{ type: 'Terminate' }, { type: 'Reboot' }] },
  { actions: [{ type: 'CustomResource' }] },
  { actions: [{ type: 'Reboot', template: 'fix.yaml' }] },
  { actions: [{ type: 'Reboot', timeout: '0s' }] },
  { flapping: { window: '10m', unhealthyFor: '20m' } },
  { flapping: { window: '10m' } },
  { futility: { repairs: 0, window: '1h' } },
  { futility: { repairs: 101, window: '1h' } },
  { nodesWithoutNodeClaim: 'Terminate' },
  { maxUnhealty: 1 },
  { actions: [...Array(9)].map(() => ({ type: 'Reboot' })) },
  { policies: [{ conditionType: 'a'.repeat(317), toleration: '1m' }] },
  { conditions: [{ type: 'a'.repeat(317), status: 'True', toleration: '1m' }] },
  { actions: [{ type: 'CustomResource', template: 'a'.repeat(254) }] },
];

const PROTECTION = {
  compatibility: 'Design',
  maxDuration: '24h',
  namespaces: [{ name: 'ci', maxDuration: '4h' }],
  warnBefore: '10m',
};

const SELECTOR = {
  matchLabels: { team: 'edge' },
  matchExpressions: [
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'c', operator: 'Exists' },
  ],
};

describe('the checks read', () => {
  it.each(MISTAKES.map(block => [JSON.stringify(block), block] as const))('%s as a mistake', (_, block) => {
    expect(isRepairReadable(block)).toBe(false);
    expect(parseRepairBlock(block, 'spec.repair').ok).toBe(false);
  });

  it.each([
    ['9223372036854775807ns', true],
    ['2562047h47m16.854775807s', true],
    ['9223372036854775808ns', false],
    ['2562047h47m16.854775808s', false],
    ['2562048h', false],
    ['0.5h', true],
  ])('%s as a duration of Go: %s', (defaultTolerationDuration, isOne) => {
    expect(isRepairReadable({ defaultTolerationDuration })).toBe(isOne);
    expect(parseRepairBlock({ defaultTolerationDuration }, 'spec.repair').ok).toBe(isOne);
  });

  it('a repair block as Curfew does', () => {
    assertEach(
      hostileJson([BLOCK, { ...BLOCK, zoneOutage: 'Off', freeze: { minNodes: 2 } }, {}]),
      block => {
        assert.equal(isRepairReadable(block), parseRepairBlock(block, 'spec.repair').ok);
      },
      3_000,
    );
  });

  it('limits of zone and cluster as Curfew does', () => {
    assertEach(
      hostileJson([{ maxConcurrentRepairsPerZone: 2, maxConcurrentRepairsPerCluster: '5%' }, {}]),
      block => {
        assert.equal(isLimitsReadable(block), parseRepairLimits(block, 'spec.repairLimits').ok);
      },
      2_000,
    );
  });

  it('a protection block as Curfew does', () => {
    const late = { maxDuration: '20m', warnBefore: '1h' };
    expect([isProtectionReadable(late), parseProtectionBlock(late, 'spec.protection').ok]).toEqual([false, false]);
    assertEach(
      hostileJson([PROTECTION, {}]),
      block => {
        assert.equal(isProtectionReadable(block), parseProtectionBlock(block, 'spec.protection').ok);
      },
      2_000,
    );
  });

  it('the frame of a policy as Curfew does', () => {
    assertEach(
      hostileJson([{ nodePoolSelector: SELECTOR, mode: 'Observe', repair: {} }]),
      spec => {
        // No label of Kubernetes; zod leaves it out.
        if (JSON.stringify(spec ?? null).includes('__proto__')) return;
        assert.equal(isFrameReadable({ spec: spec as JsonObject }), parsePolicyFrame(spec).ok);
      },
      2_000,
    );
  });
});
