import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { PortCall, Run } from '../../../simulator/invariants/invariant.ts';
import { failedReads, isTermination } from '../../../simulator/invariants/run-journal.ts';

const call = (port: PortCall['port'], method: string, args: readonly unknown[], outcome: PortCall['outcome']) => ({
  port,
  method,
  args,
  time: toEpochMs(0),
  outcome,
});
const FAILED = { kind: 'failed', error: new Error('503') } as const;
const answered = (value: unknown) => ({ kind: 'answered', value }) as const;

const CONFIG = [{ type: RESOURCES.ConfigMap, namespace: 'curfew', name: 'curfew-config' }];
const readConfig = (outcome: PortCall['outcome']) => call('kubernetes', 'get', CONFIG, outcome);
const intent = call('records', 'put', [{ owner: 'repair', id: 'cluster' }], answered({ kind: 'written' }));
const run = (...calls: PortCall[]): Run => ({ by: 'repair', startTime: toEpochMs(0), calls });

describe('what a run could not read', () => {
  it('is the configuration that it failed to look at again once its intent was recorded', () => {
    expect(failedReads(run(readConfig(answered({})), intent, readConfig(FAILED)), [])).toHaveLength(1);
    expect(failedReads(run(readConfig(FAILED), intent), [])).toHaveLength(1);
  });

  it('is not the template of another node, out of the same ConfigMap, after the configuration was looked at again', () => {
    expect(failedReads(run(intent, readConfig(answered({})), readConfig(FAILED)), [])).toEqual([]);
  });

  it('is nothing of the pass of another pool, which the same run made before', () => {
    const claim = (pool: string, outcome: PortCall['outcome']) =>
      call('records', 'get', [{ owner: 'repair', id: `round/pass/${pool}` }], outcome);
    const list = call('kubernetes', 'list', [RESOURCES.Node, { labelSelector: 'karpenter.sh/nodepool=a' }], FAILED);
    const begun = answered(undefined);
    expect(failedReads(run(claim('a', begun), list, intent), [])).toHaveLength(1);
    expect(failedReads(run(claim('a', begun), list, claim('b', begun), intent), [])).toEqual([]);
    expect(failedReads(run(claim('a', FAILED), claim('b', begun), intent), [])).toEqual([]);
  });

  it.each([
    ['what was asked of somebody else, whose answer only ends a wait', 'ops.example.com', 0],
    ['the work of somebody else', 'nvsentinel.dgxc.nvidia.com', 1],
  ])('of custom resources: %s', (_, group, count) => {
    const type = { group, version: 'v1', resource: 'nodefixes' };
    const read = call('kubernetes', 'get', [{ type, name: 'n4', namespace: 'prod' }], FAILED);
    expect(failedReads(run(intent, read), ['n4-claim', 'n4'])).toHaveLength(count);
  });

  it('is that of an object until a list shows the object', () => {
    const get = call('kubernetes', 'get', [{ type: RESOURCES.NodeClaim, name: 'nc1' }], FAILED);
    const listOf = (...names: readonly string[]) =>
      call(
        'kubernetes',
        'list',
        [RESOURCES.NodeClaim, { labelSelector: 'karpenter.sh/nodepool=general' }],
        answered({ kind: 'there', objects: names.map(name => ({ kind: 'NodeClaim', metadata: { name, uid: name } })) }),
      );
    expect(failedReads(run(get, listOf('nc2', 'nc1')), ['nc1'])).toEqual([]);
    expect(failedReads(run(get, listOf('nc2')), ['nc1'])).toHaveLength(1);
    expect(failedReads(run(listOf('nc1'), get), ['nc1'])).toHaveLength(1);
  });
});

describe('a termination', () => {
  const CLAIM = { type: RESOURCES.NodeClaim, name: 'n1' };
  const timestamp = (value: string | null) => ({
    body: { metadata: { annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': value } } },
  });
  const patch = (value: string | null) => call('kubernetes', 'patch', [CLAIM, timestamp(value)], FAILED);

  it('is a delete, and the instant that forces it', () => {
    expect(isTermination(call('kubernetes', 'delete', [CLAIM], FAILED))).toBe(true);
    expect(isTermination(patch('1970-01-01T00:00:02Z'))).toBe(true);
  });

  it('is not the later instant of somebody else that comes back, nor none', () => {
    for (const value of ['1970-01-01T01:00:00Z', 'whenever', null]) expect(isTermination(patch(value))).toBe(false);
  });
});
