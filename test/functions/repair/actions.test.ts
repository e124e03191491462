import { describe, expect, it } from 'vitest';
import type { InboxMessage } from '../../../shared/contract/inbox-message.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { createRepairWorld, seedPool, type Crash, type RepairWorld } from '../../fakes/repair-world.ts';

const deletions = (world: RepairWorld): string[] =>
  world.writes.filter(({ verb }) => verb === 'delete').map(({ ref }) => `${ref.type.resource}/${ref.name}`);
const reboots = (world: RepairWorld): string[] => world.instanceCalls.filter(call => call.startsWith('reboot'));
const requestIds = (world: RepairWorld, detailType: string): unknown[] =>
  world.published.filter(entry => entry.detailType === detailType).map(({ detail }) => detail['id']);

/** A due node in a pool whose ladder begins with this action, and goes on with a termination. */
function dueWorld(first: object): RepairWorld {
  const world = createRepairWorld();
  const policies = [{ conditionType: 'NetworkUnavailable', toleration: '10m' }];
  const last = 'type' in first && first.type === 'DrainThenTerminate' ? [] : [{ type: 'Terminate' }];
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], { policies, actions: [first, ...last] });
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  return world;
}

/** The message of a run that ended comes again after a minute; from then on timers do the rest. */
async function pass(world: RepairWorld, ...spans: readonly number[]): Promise<void> {
  for (const [index, span] of spans.entries()) {
    if (index > 0) await world.run(minutes(span));
    else {
      world.advance(minutes(span));
      await world.look('n1');
    }
  }
}

function drainCompleted(id: unknown, status: string): InboxMessage {
  const detail = { id, status, message: 'told by a test', node: { name: 'n1' } };
  return { kind: 'busEvent', id: 'e1', source: 'curfew.drain', detailType: 'DrainCompleted', detail };
}

/** The same story with a run that ends at each of its calls, before and after in turns. */
async function everyCrash(story: (crash: Crash | undefined) => Promise<number>): Promise<void> {
  const calls = await story(undefined);
  expect(calls).toBeGreaterThan(10);
  for (let call = 1; call <= calls; call++) await story({ call, side: call % 2 === 0 ? 'before' : 'after' });
}

describe('Reboot', () => {
  it('I4 and I5: is asked for at most once wherever a run ends, and the termination follows once', async () => {
    await everyCrash(async crash => {
      const world = dueWorld({ type: 'Reboot', timeout: '5m' });
      const calls = await world.look('n1', crash);
      await pass(world, 1, 2, 5, 2);
      expect({ crash, reboots: reboots(world).length <= 1 }).toEqual({ crash, reboots: true });
      expect({ crash, deletions: deletions(world) }).toEqual({ crash, deletions: ['nodeclaims/claim-n1'] });
      return calls;
    });
  });

  it.each([
    ['is well', 'False'],
    ['may not be repaired', 'True'],
  ])('I7: leaves no maintenance where the table forgets it and the node %s', async (_, status) => {
    const world = dueWorld({ type: 'Reboot', timeout: '30m' });
    await world.look('n1');
    const marks = () => {
      const { spec, status: said, metadata } = world.core.get({ type: RESOURCES.Node, name: 'n1' });
      const isMaintained = /"True","reason":"CurfewReboot/.test(JSON.stringify(said?.['conditions']));
      return [spec?.['unschedulable'] === true, isMaintained, metadata.annotations?.['curfew.dev/cordoned-by-repair']];
    };
    expect(marks()).toEqual([true, true, 'true']);
    for (const record of world.store.all()) await world.store.delete(record, record.version);
    world.setCondition('n1', 'NetworkUnavailable', status);
    const veto = { metadata: { annotations: { 'curfew.dev/do-not-repair': 'true' } } };
    world.core.patch({ type: RESOURCES.Node, name: 'n1' }, { type: 'merge', body: veto }, { user: 'x' });
    await world.look('n1');
    await world.run(minutes(15));
    expect(marks()).toEqual([false, false, undefined]);
  });

  it('is asked for once wherever a request fails that comes before it', async () => {
    const first = { type: 'Reboot', timeout: '30m' };
    const calls = await dueWorld(first).look('n1');
    for (let call = 1; call <= calls; call++) {
      const world = dueWorld(first);
      await world.look('n1', { call, side: 'before' });
      await pass(world, 1, 2, 5);
      expect({ call, reboots: reboots(world) }).toEqual({ call, reboots: ['reboot aws:///us-west-2a/i-n1'] });
    }
  });

  it('is tried again while EC2 certainly refuses it, and never when it may have taken effect', async () => {
    const certain = dueWorld({ type: 'Reboot', timeout: '30m' });
    certain.cloud.fails = new RetryableError('throttled', { reason: 'RequestLimitExceeded' });
    await certain.look('n1');
    expect(certain.events.at(-1)).toMatchObject({ reason: 'NodeRepairActionFailed', type: 'Warning' });
    certain.cloud.fails = undefined;
    await pass(certain, 1, 1);
    expect(reboots(certain)).toEqual(['reboot aws:///us-west-2a/i-n1']);

    const lost = dueWorld({ type: 'Reboot', timeout: '30m' });
    lost.cloud.fails = new RetryableError('no answer', { outcomeUnknown: true });
    await lost.look('n1');
    lost.cloud.fails = undefined;
    await pass(lost, 1, 9, 10);
    expect(reboots(lost)).toEqual([]);
  });

  it('waits twice as long before each further try, a minute at most', async () => {
    const world = dueWorld({ type: 'Reboot', timeout: '30m' });
    world.cloud.fails = new RetryableError('throttled', { reason: 'RequestLimitExceeded' });
    await world.look('n1');
    const tries = (): unknown => {
      const refusals = world.store.all().find(({ id }) => id.startsWith('node/'))?.state['refusals'];
      return (refusals as Record<string, { count: number }>)['Reboot||1800000']?.count;
    };
    for (const [index, wait] of [5, 10, 20, 40, 60, 60].entries()) {
      await world.run(seconds(wait - 1));
      expect({ wait, tries: tries() }).toEqual({ wait, tries: index + 1 });
      await world.run(seconds(1));
      expect({ wait, tries: tries() }).toEqual({ wait, tries: index + 2 });
    }
    expect(reboots(world)).toEqual([]);
  });

  it('gives way to the next action when the instance cannot be rebooted', async () => {
    const world = dueWorld({ type: 'Reboot', timeout: '30m' });
    world.cloud.outcome = { kind: 'refused', reason: 'IncorrectInstanceState', message: 'it is stopped' };
    await world.look('n1');
    expect(deletions(world)).toEqual([]);
    await world.run(seconds(2));
    expect(deletions(world)).toEqual(['nodeclaims/claim-n1']);
  });
});

describe('DrainThenTerminate', () => {
  const drain = { type: 'DrainThenTerminate', timeout: '20m' };

  it('I4: asks under one id wherever a run ends, and terminates once the drain is over', async () => {
    await everyCrash(async crash => {
      const world = dueWorld(drain);
      const calls = await world.look('n1', crash);
      await pass(world, 1, 2);
      const ids = new Set(requestIds(world, 'DrainRequested'));
      expect({ crash, ids: ids.size }).toEqual({ crash, ids: 1 });
      expect(deletions(world)).toEqual([]);
      world.advance(seconds(2));
      await world.reconcile(drainCompleted([...ids][0], 'Succeeded'));
      expect({ crash, deletions: deletions(world) }).toEqual({ crash, deletions: ['nodeclaims/claim-n1'] });
      return calls;
    });
  });

  it('I4: asks under one id where no answer came, wherever the next try fails', async () => {
    const asked = async (): Promise<RepairWorld> => {
      for (let call = 1; ; call++) {
        const world = dueWorld(drain);
        await world.look('n1', { call, side: 'after' });
        if (requestIds(world, 'DrainRequested').length > 0) return world;
      }
    };
    const again = async (crash?: Crash): Promise<{ readonly calls: number; readonly ids: number }> => {
      const world = await asked();
      world.advance(minutes(2));
      const calls = await world.look('n1', crash);
      await world.run(minutes(1));
      return { calls, ids: new Set(requestIds(world, 'DrainRequested')).size };
    };
    const { calls } = await again();
    for (let call = 1; call <= calls; call++) {
      const { ids } = await again({ call, side: 'before' });
      expect({ call, ids }).toEqual({ call, ids: 1 });
    }
  });

  it.each(['pool/default', 'node/uid-2', 'round/pass/default'])(
    'I9: its end stays in its queue while a newer version of the function keeps %s',
    async id => {
      const world = dueWorld(drain);
      await world.look('n1');
      const [request] = requestIds(world, 'DrainRequested');
      const kept = world.store.all().find(each => each.id === id);
      const subject = { apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'uid-2' };
      const item = { owner: 'repair' as const, id, subject };
      const pool = world.store.all().find(each => each.id === 'pool/default');
      const followed = { ...pool?.state, followed: ['uid-2'] };
      if (pool !== undefined && id === 'node/uid-2') await world.store.put({ ...pool, state: followed }, pool.version);
      await world.store.put({ ...item, state: { schemaVersion: 99 } }, kept?.version ?? 0);
      world.advance(seconds(2));
      await expect(world.reconcile(drainCompleted(request, 'Succeeded'))).rejects.toMatchObject({
        reason: 'NewerRecord',
      });
      expect(deletions(world)).toEqual([]);
    },
  );

  it('leaves the node alone when somebody took the drain back, and pays no heed to other drains', async () => {
    const world = dueWorld(drain);
    await world.look('n1');
    await world.reconcile(drainCompleted('somebody else', 'Succeeded'));
    await world.reconcile(drainCompleted(`${world.node('n1').metadata.uid}.1`, 'Succeeded'));
    expect(deletions(world)).toEqual([]);
    await world.reconcile(drainCompleted(requestIds(world, 'DrainRequested')[0], 'Cancelled'));
    await pass(world, 10, 20);
    expect(deletions(world)).toEqual([]);
    expect(world.audit.some(({ decision }) => decision === 'exhausted')).toBe(true);
  });

  it('I7: calls the drain off when the node got well before its end', async () => {
    const world = dueWorld(drain);
    await world.look('n1');
    world.setCondition('n1', 'NetworkUnavailable', 'False');
    world.advance(seconds(2));
    await world.look('n1');
    const [request, end] = world.published;
    expect(end).toMatchObject({
      source: 'curfew.repair',
      detailType: 'HealthEvent',
      detail: { id: request?.detail['id'], nodeName: 'n1', healthEventStatus: { nodeQuarantined: 'Cancelled' } },
    });
    expect(deletions(world)).toEqual([]);
  });

  it('parks an answer that cannot be read', async () => {
    const message = drainCompleted('x', 'Perhaps');
    await expect(dueWorld(drain).reconcile(message)).rejects.toMatchObject({ reason: 'InvalidMessage' });
  });
});

describe('Terminate without a NodeClaim', () => {
  const CALL = 'terminateInAutoScalingGroup aws:///us-west-2a/i-g1';

  function groupWorld(): RepairWorld {
    const world = createRepairWorld();
    seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5']);
    world.seed({
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'all' },
      spec: { repair: { nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup' } },
    });
    const spec = { providerID: 'aws:///us-west-2a/i-g1' };
    world.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'g1' }, spec });
    world.setCondition('g1', 'Ready', 'False');
    world.advance(minutes(30));
    return world;
  }

  it('goes through the Auto Scaling group, once', async () => {
    const world = groupWorld();
    await world.look('g1');
    await pass(world, 5, 5);
    expect(world.instanceCalls).toEqual([CALL]);
  });

  it.each([
    ['shutting-down', []],
    [undefined, []],
    ['running', [CALL]],
  ] as const)('I4: after a lost answer looks first: %s', async (state, calls) => {
    const world = groupWorld();
    world.cloud.fails = new RetryableError('no answer', { outcomeUnknown: true });
    world.cloud.state = state;
    await world.look('g1');
    world.cloud.fails = undefined;
    await pass(world, 1, 1, 5);
    expect(world.instanceCalls).toEqual(calls);
  });

  it('I4: while EC2 refuses to say what came of a lost answer, that node waits and no other', async () => {
    const world = groupWorld();
    world.cloud.fails = new RetryableError('no answer', { outcomeUnknown: true });
    await world.look('g1');
    world.cloud.fails = undefined;
    world.cloud.looksFail = new TerminalError('InvalidParameter', 'EC2 does not say');
    await pass(world, 1, 1, 5);
    expect(world.instanceCalls).toEqual([]);
    world.cloud.looksFail = undefined;
    await pass(world, 5);
    expect(world.instanceCalls).toEqual([CALL]);
  });
});
