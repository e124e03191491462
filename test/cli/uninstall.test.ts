import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { uninstall, uninstallCommand } from '../../cli/uninstall.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { createCluster } from '../../simulator/world.ts';
import { objectAt, objectsIn } from '../fakes/objects.ts';

const POOL = { 'karpenter.sh/nodepool': 'web' };
const marked = { 'curfew.dev/termination-finalizer': 'example.com/custom' };
const RUN = { dryRun: false, pause: () => Promise.resolve() };
const node = (name: string, metadata: object) =>
  ({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata } }) as const;

function cluster() {
  const core = createApiServer({ clock: { now: () => 0 } });
  const finalizers = ['example.com/custom'];
  core.seed(node('replaced', { labels: POOL, annotations: marked, finalizers: [...finalizers, 'other.example/f'] }));
  core.seed(
    node('beside', { labels: POOL, annotations: marked, finalizers: ['karpenter.sh/termination', ...finalizers] }),
  );
  core.seed(node('own', { annotations: marked, finalizers }));
  core.seed(node('foreign', { labels: POOL, finalizers }));
  const deletionTimestamp = '2024-11-01T15:00:00Z';
  core.seed(node('going', { labels: POOL, annotations: marked, finalizers, deletionTimestamp }));
  return createInProcessKubernetesApi(core, 'test');
}

describe('curfew uninstall', () => {
  it("gives Karpenter's finalizer back, takes ours off, and leaves what is not ours or goes already (I7)", async () => {
    const kubernetes = cluster();
    const said: string[] = [];
    expect(await uninstall(kubernetes, { ...RUN, say: line => said.push(line) })).toEqual({
      left: ['Node going'],
      held: [],
      refused: [],
      failed: [],
      rules: [],
      cordoned: [],
    });
    const nodes = await objectsIn(kubernetes, RESOURCES.Node);
    const finalizersOf = Object.fromEntries(nodes.map(({ metadata }) => [metadata.name, metadata.finalizers ?? []]));
    expect(finalizersOf).toEqual({
      replaced: ['other.example/f', 'karpenter.sh/termination'],
      beside: ['karpenter.sh/termination'],
      own: [],
      foreign: ['example.com/custom'],
      going: ['example.com/custom'],
    });
    expect(nodes.filter(({ metadata }) => Object.keys(metadata.annotations ?? {}).length > 0)).toHaveLength(1);
    expect(said).toHaveLength(3);
  });

  it('takes the default finalizer off where somebody took the mark off, which says whose it is by its name (I7)', async () => {
    const core = createCluster({ now: () => toEpochMs(0) });
    const finalizers = ['curfew.dev/termination'];
    core.seed(node('pooled', { labels: POOL, finalizers }));
    core.seed(node('bare', { finalizers: [...finalizers, 'other.example/f'] }));
    // The mark names another one, which was put on before or after it.
    core.seed(node('renamed', { annotations: marked, finalizers: [...finalizers, 'example.com/custom'] }));
    core.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: 'claim', labels: POOL, finalizers: [...finalizers, 'karpenter.sh/termination'] },
    });
    core.seed(node('going', { finalizers, deletionTimestamp: '2024-11-01T15:00:00Z' }));
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const said: string[] = [];
    expect(await uninstall(kubernetes, { ...RUN, say: line => said.push(line) })).toMatchObject({
      left: ['Node going'],
      held: [],
    });
    const all = [
      ...(await objectsIn(kubernetes, RESOURCES.Node)),
      ...(await objectsIn(kubernetes, RESOURCES.NodeClaim)),
    ];
    expect(Object.fromEntries(all.map(({ metadata }) => [metadata.name, metadata.finalizers ?? []]))).toEqual({
      pooled: ['karpenter.sh/termination'],
      bare: ['other.example/f'],
      renamed: [],
      claim: ['karpenter.sh/termination'],
      going: finalizers,
    });
    expect(said).toContain('taken curfew.dev/termination off Node bare');
  });

  it('takes off by its name what a policy in force asks for where the mark is missing', async () => {
    const core = createCluster({ now: () => 0 });
    const finalizers = ['example.com/custom'];
    const spec = {
      nodePoolSelector: { matchLabels: { team: 'ml' } },
      termination: { finalizerName: 'example.com/custom' },
    };
    core.seed({ apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', metadata: { name: 'ml' }, spec });
    core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'web', labels: { team: 'ml' } } });
    core.seed(node('unmarked', { labels: POOL, finalizers }));
    core.seed(node('elsewhere', { finalizers }));
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    await uninstall(kubernetes, { ...RUN, say: () => undefined });
    const nodes = await objectsIn(kubernetes, RESOURCES.Node);
    expect(nodes.map(({ metadata }) => [metadata.name, metadata.finalizers ?? []])).toEqual([
      ['elsewhere', finalizers],
      ['unmarked', ['karpenter.sh/termination']],
    ]);
  });

  it('takes its conditions off Nodes when asked, and none of others', async () => {
    const core = createApiServer({ clock: { now: () => 0 } });
    const condition = (type: string, reason: string) => ({
      type,
      status: 'True',
      reason,
      lastTransitionTime: '2024-11-01T15:00:00Z',
    });
    const ready = condition('Ready', 'KubeletReady');
    const conditions = [ready, condition('DrainInProgress', 'CurfewDraining'), condition('Drained', 'CurfewDrained')];
    core.seed({ ...node('ours', {}), status: { conditions } });
    core.seed({ ...node('of-others', {}), status: { conditions: [ready, condition('Drained', 'DrainController')] } });
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const said: string[] = [];
    const release = () => uninstall(kubernetes, { ...RUN, releaseHolds: true, say: line => said.push(line) });
    await release();
    const nodes = await objectsIn(kubernetes, RESOURCES.Node);
    expect(nodes.map(({ status }) => status?.['conditions'])).toEqual([
      [ready, condition('Drained', 'DrainController')],
      [ready],
    ]);
    expect(said).toEqual(['taken condition DrainInProgress and condition Drained off Node ours']);
    await release();
    expect(said).toHaveLength(1);
  });

  it('deletes its definitions when asked, last of all: never while something is left that needs them', async () => {
    const embedded = await startEmbeddedCluster(systemClock, 0);
    try {
      const kubernetes = createInProcessKubernetesApi(embedded.core, 'test');
      const deletionTimestamp = '2024-11-01T15:00:00Z';
      embedded.core.seed(node('going', { annotations: marked, finalizers: ['example.com/custom'], deletionTimestamp }));
      const said: string[] = [];
      const run = { ...RUN, releaseHolds: true, definitions: true, say: (line: string) => said.push(line) };
      expect(await uninstall(kubernetes, run)).toMatchObject({ left: ['Node going'] });
      expect(said).toEqual([]);
      const ref = { type: RESOURCES.Node, name: 'going' };
      await kubernetes.patch(ref, { type: 'merge', body: { metadata: { finalizers: [] } } });
      embedded.core.seed(node('marked', { annotations: marked, finalizers: ['example.com/custom'] }));
      await uninstall(kubernetes, run);
      expect(said).toEqual([
        'taken example.com/custom off Node marked',
        'deleted the definition nodelifecyclepolicies.curfew.dev',
        'deleted the definition finalizerrules.curfew.dev',
      ]);
      expect(await kubernetes.list(RESOURCES.NodeLifecyclePolicy)).toMatchObject({ kind: 'notServed' });
    } finally {
      await embedded.close();
    }
  });

  it('takes its holds off Nodes when asked, which Karpenter would leave alone without end, and no annotation of others', async () => {
    const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
    const until = { 'curfew.dev/protected-until': '2024-11-01T15:00:00Z' };
    const core = createApiServer({ clock: { now: () => 0 } });
    core.seed(node('held', { annotations: { [DO_NOT_DISRUPT]: 'true', ...until } }));
    core.seed(
      node('both', { annotations: { [DO_NOT_DISRUPT]: 'true', ...until, ...marked }, finalizers: ['a.example/f'] }),
    );
    core.seed(node('taken-over', { annotations: { [DO_NOT_DISRUPT]: '2h', ...until } }));
    core.seed(node('of-a-person', { annotations: { [DO_NOT_DISRUPT]: 'true' } }));
    const deletionTimestamp = '2024-11-01T15:00:00Z';
    core.seed(
      node('going', {
        annotations: { [DO_NOT_DISRUPT]: 'true', ...until },
        finalizers: ['a.example/f'],
        deletionTimestamp,
      }),
    );
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const said: string[] = [];
    const say = (line: string) => said.push(line);
    expect(await uninstall(kubernetes, { ...RUN, releaseHolds: true, say })).toMatchObject({ left: [] });
    const nodes = await objectsIn(kubernetes, RESOURCES.Node);
    expect(Object.fromEntries(nodes.map(({ metadata }) => [metadata.name, metadata.annotations ?? {}]))).toEqual({
      held: {},
      both: {},
      'taken-over': { [DO_NOT_DISRUPT]: '2h' },
      'of-a-person': { [DO_NOT_DISRUPT]: 'true' },
      going: {},
    });
    expect(said).toContain('taken karpenter.sh/do-not-disrupt and curfew.dev/protected-until off Node held');
    expect(said).toContain('taken curfew.dev/protected-until off Node taken-over');
  });

  it('ends what a drain that is under way has done to its Node, and names Nodes that an ended one left cordoned (I7)', async () => {
    const core = createApiServer({ clock: { now: () => 0 } });
    const STATE = 'dgxc.nvidia.com/nvsentinel-state';
    const underWay = {
      'curfew.dev/drain': '{"id":"d1"}',
      'curfew.dev/drain-requested': 'd1',
      'curfew.dev/watch-pods': 'drain',
    };
    const cordon = { 'curfew.dev/cordoned-by-drain': 'd1' };
    const unschedulable = { spec: { unschedulable: true } };
    const draining = { labels: { [STATE]: 'draining' } };
    core.seed({
      ...node('draining', { annotations: { ...underWay, ...cordon, a: 'b' }, ...draining }),
      ...unschedulable,
    });
    // Somebody else keeps pods away from it, as NVSentinel does.
    const quarantine = { quarantineHealthEvent: '[]' };
    core.seed({
      ...node('quarantined', { annotations: { ...underWay, ...quarantine }, ...draining }),
      ...unschedulable,
    });
    const answered = { 'curfew.dev/drain-requested': 'd1', 'curfew.dev/drain-answer': '{"id":"d1"}' };
    const drained = { labels: { [STATE]: 'drain-succeeded' } };
    core.seed({ ...node('drained', { annotations: { ...answered, ...cordon }, ...drained }), ...unschedulable });
    const deletionTimestamp = '2024-11-01T15:00:00Z';
    const watched = { ...marked, 'curfew.dev/watch-pods': 'finalizer' };
    core.seed(node('going', { annotations: watched, finalizers: ['example.com/custom'], deletionTimestamp }));
    core.seed(node('in-use-again', { annotations: { ...answered, ...cordon } }));
    core.seed({ ...node('of-a-person', {}), ...unschedulable });
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const said: string[] = [];
    const release = () => uninstall(kubernetes, { ...RUN, releaseHolds: true, say: line => said.push(line) });
    expect(await release()).toMatchObject({ left: ['Node going'], held: [], rules: [], cordoned: ['drained'] });
    const nodes = await objectsIn(kubernetes, RESOURCES.Node);
    const look = nodes.map(({ metadata: { name, annotations = {}, labels = {} }, spec }) => [
      name,
      { annotations, state: labels[STATE], cordoned: spec?.['unschedulable'] === true },
    ]);
    expect(Object.fromEntries(look)).toEqual({
      draining: { annotations: { a: 'b' }, state: undefined, cordoned: false },
      quarantined: { annotations: quarantine, state: 'quarantined', cordoned: true },
      drained: { annotations: cordon, state: 'drain-succeeded', cordoned: true },
      going: { annotations: watched, state: undefined, cordoned: false },
      'in-use-again': { annotations: {}, state: undefined, cordoned: false },
      'of-a-person': { annotations: {}, state: undefined, cordoned: true },
    });
    expect(said.filter(line => line.includes('uncordoned it'))).toEqual([
      'taken curfew.dev/drain-requested and curfew.dev/drain and curfew.dev/watch-pods and curfew.dev/cordoned-by-drain and dgxc.nvidia.com/nvsentinel-state off Node draining, uncordoned it',
    ]);
    const changes = said.length;
    await release();
    expect(said).toHaveLength(changes);
  });

  it('opens a Node that a repair has cordoned for its reboot, but not one that an ended drain has emptied or that is quarantined (I7)', async () => {
    const core = createApiServer({ clock: { now: () => 0 } });
    const unschedulable = { spec: { unschedulable: true } };
    const byRepair = { 'curfew.dev/cordoned-by-repair': 'true' };
    const byDrain = { 'curfew.dev/cordoned-by-drain': 'd1' };
    core.seed({ ...node('rebooting', { annotations: byRepair }), ...unschedulable });
    core.seed({ ...node('drained', { annotations: { ...byRepair, ...byDrain } }), ...unschedulable });
    const underWay = { 'curfew.dev/drain': '{"id":"d1"}' };
    core.seed({ ...node('both', { annotations: { ...byRepair, ...byDrain, ...underWay } }), ...unschedulable });
    core.seed(node('in-use-again', { annotations: byRepair }));
    const quarantine = { quarantineHealthEventIsCordoned: 'True' };
    core.seed({ ...node('quarantined', { annotations: { ...byRepair, ...quarantine } }), ...unschedulable });
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const said: string[] = [];
    const run = { ...RUN, releaseHolds: true, say: (line: string) => said.push(line) };
    expect(await uninstall(kubernetes, run)).toMatchObject({ cordoned: ['drained'] });
    const nodes = await objectsIn(kubernetes, RESOURCES.Node);
    const look = nodes.map(({ metadata, spec }) => [
      metadata.name,
      metadata.annotations ?? {},
      spec?.['unschedulable'],
    ]);
    expect(look).toEqual([
      ['both', {}, undefined],
      ['drained', byDrain, true],
      ['in-use-again', {}, undefined],
      ['quarantined', quarantine, true],
      ['rebooting', {}, undefined],
    ]);
    expect(said).toContain('taken curfew.dev/cordoned-by-repair off Node rebooting, uncordoned it');
  });

  it('deletes a replacement that is still reserved, and takes the marks off one that pods may use', async () => {
    const core = createCluster({ now: () => 0 });
    const annotations = { 'curfew.dev/replaces': 'uid-of-old', 'karpenter.sh/do-not-disrupt': 'true' };
    const claim = (name: string, more: object = {}, status: object = {}) =>
      core.seed({
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodeClaim',
        metadata: { name, labels: POOL, annotations, ...more },
        status,
      });
    const onMachine = (name: string) => ({ nodeName: name, providerID: `aws:///a/i-${name}` });
    const machine = (name: string, taints: readonly object[]) =>
      core.seed({ ...node(name, { annotations }), spec: { providerID: `aws:///a/i-${name}`, taints } });
    claim('launching');
    claim('reserved', {}, onMachine('reserved'));
    machine('reserved', [{ key: 'curfew.dev/reserved', effect: 'NoSchedule' }]);
    claim('used', {}, onMachine('used'));
    machine('used', []);
    claim('of-a-person', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const said: string[] = [];
    const run = { ...RUN, releaseHolds: true, say: (line: string) => said.push(line) };
    const look = async () =>
      [...(await objectsIn(kubernetes, RESOURCES.NodeClaim)), ...(await objectsIn(kubernetes, RESOURCES.Node))].map(
        ({ kind, metadata }) => [`${kind} ${metadata.name}`, Object.keys(metadata.annotations ?? {})],
      );
    const before = await look();
    await uninstall(kubernetes, { ...run, dryRun: true });
    expect(await look()).toEqual(before);
    const lines = [
      'deleted NodeClaim launching, a replacement that no pod may use yet',
      'deleted NodeClaim reserved, a replacement that no pod may use yet',
      'taken the marks of a replacement off NodeClaim used and its Node',
    ];
    expect(said.splice(0)).toEqual(lines);
    await uninstall(kubernetes, run);
    expect(await look()).toEqual([
      ['NodeClaim of-a-person', ['karpenter.sh/do-not-disrupt']],
      ['NodeClaim used', []],
      ['Node reserved', Object.keys(annotations)],
      ['Node used', []],
    ]);
    expect(said).toEqual(lines);
  });

  it('names FinalizerRules that remain when Curfew goes for good: their finalizers would stay on objects', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
    const embedded = await startEmbeddedCluster(systemClock, 0);
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, embedded.kubeconfig());
      const metadata = { name: 'databases' };
      const spec = {
        version: 'v1',
        kind: 'ConfigMap',
        finalizerName: 'a.example/f',
        cleanup: { builtin: { name: 'None' } },
      };
      embedded.core.seed({ apiVersion: 'curfew.dev/v1alpha1', kind: 'FinalizerRule', metadata, spec });
      let error = '';
      const output = { out: () => undefined, error: (text: string) => (error += text) };
      expect(await uninstallCommand({ kubeconfig, releaseHolds: true }, output)).toBe(1);
      expect(error).toMatch(/^FinalizerRule databases: .*kubectl delete finalizerrules --all/);
      // Who only goes back to Karpenter's finalizer keeps them.
      expect(await uninstallCommand({ kubeconfig }, output)).toBe(0);
    } finally {
      await embedded.close();
      rmSync(folder, { recursive: true });
    }
  });

  // Somebody who only goes back to Karpenter's finalizer keeps the promise that protected pods have.
  it('leaves its holds without being asked', async () => {
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': '2024-11-01T15:00:00Z' };
    const core = createApiServer({ clock: { now: () => 0 } });
    core.seed(node('held', { annotations: { ...annotations, ...marked } }));
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    await uninstall(kubernetes, { ...RUN, say: () => undefined });
    expect((await objectsIn(kubernetes, RESOURCES.Node))?.[0]?.metadata.annotations).toEqual(annotations);
  });

  it('goes on while an API server still has the admission policy, which turns what it gives back into ours', async () => {
    const kubernetes = cluster();
    let turned = 4;
    /** Two servers: one forgets the policy at once, the other after the fourth write. */
    const patch: typeof kubernetes.patch = async (ref, change, options) => {
      if ((turned -= 1) % 2 === 0 || turned < 0) return kubernetes.patch(ref, change, options);
      const object = await objectAt(kubernetes, ref);
      return object === undefined ? { kind: 'notFound' } : { kind: 'ok', object };
    };
    const said: string[] = [];
    const outcome = await uninstall({ ...kubernetes, patch }, { ...RUN, say: line => said.push(line) });
    expect(outcome).toMatchObject({ left: ['Node going'], held: [] });
    expect(said).toHaveLength(3);
    const nodes = await objectsIn(kubernetes, RESOURCES.Node);
    const marks = nodes.filter(({ metadata }) => metadata.annotations?.['curfew.dev/termination-finalizer']);
    expect(marks.map(({ metadata }) => metadata.name)).toEqual(['going']);
  });

  it('names what gets our finalizer again and again: the functions are not stopped', async () => {
    const kubernetes = cluster();
    const patch: typeof kubernetes.patch = async ref => {
      const object = await objectAt(kubernetes, ref);
      return object === undefined ? { kind: 'notFound' } : { kind: 'ok', object };
    };
    const said: string[] = [];
    const outcome = await uninstall({ ...kubernetes, patch }, { ...RUN, say: line => said.push(line) });
    expect(outcome.held).toEqual(['Node beside', 'Node own', 'Node replaced']);
    expect(said).toEqual([]);
  });

  // A function hears of the change, and puts its own on again some seconds later: the look that follows a write is too early.
  it('looks on after its last write, and names what running functions put on again', async () => {
    const core = createCluster({ now: () => toEpochMs(0) });
    const held = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': '2024-11-01T15:00:00Z' };
    core.seed(node('a', { annotations: marked, finalizers: ['example.com/custom'] }));
    core.seed(node('b', { annotations: held }));
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const putOn = (name: string, annotations: object, finalizers: readonly string[] = []) =>
      kubernetes.patch(
        { type: RESOURCES.Node, name },
        { type: 'merge', body: { metadata: { annotations: { ...annotations }, finalizers: [...finalizers] } } },
      );
    const missing = new Map<string, number>();
    let isRunning = true;
    /** Each is put on at the second look, for the first time; the next one would come minutes later. */
    const pause = async (): Promise<void> => {
      if (!isRunning) return;
      for (const { metadata } of await objectsIn(kubernetes, RESOURCES.Node)) {
        if (Object.keys(metadata.annotations ?? {}).length > 0) continue;
        const looks = (missing.get(metadata.name) ?? 0) + 1;
        missing.set(metadata.name, looks);
        if (looks !== 2) continue;
        await (metadata.name === 'a' ? putOn('a', marked, ['example.com/custom']) : putOn('b', held));
      }
    };
    const run = { dryRun: false, releaseHolds: true, pause, say: () => undefined };
    expect((await uninstall(kubernetes, run)).held.toSorted()).toEqual(['Node a', 'Node b']);
    // Stopped.
    await putOn('a', marked, ['example.com/custom']);
    await putOn('b', held);
    isRunning = false;
    expect(await uninstall(kubernetes, run)).toMatchObject({ held: [], left: [] });
  });

  // An admission webhook or a policy of the cluster that refuses one object, by a rule that has nothing to do with Curfew.
  it('names what the API server refuses to have changed, and does the rest', async () => {
    const core = createCluster({ now: () => toEpochMs(0) });
    const finalizers = ['example.com/custom'];
    const held = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': '2024-11-01T15:00:00Z' };
    core.seed(node('a', { annotations: { ...marked, ...held }, finalizers }));
    core.seed(node('b', { annotations: { ...marked, ...held }, finalizers }));
    core.seed(node('c', { annotations: held }));
    core.seed(node('d', { annotations: held }));
    const claim = (name: string) => {
      const metadata = { name, annotations: { 'curfew.dev/replaces': `uid-${name}` } };
      core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata, spec: {} });
    };
    claim('new-a');
    claim('new-b');
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const refuse = (name: string): void => {
      if (['a', 'c', 'new-a'].includes(name))
        throw new TerminalError('Forbidden', `changing ${name}: 403 Forbidden: denied by a webhook`);
    };
    const patch: typeof kubernetes.patch = (ref, change, options) => {
      refuse(ref.name);
      return kubernetes.patch(ref, change, options);
    };
    const remove: typeof kubernetes.delete = (ref, options) => {
      refuse(ref.name);
      return kubernetes.delete(ref, options);
    };
    const said: string[] = [];
    const run = { ...RUN, releaseHolds: true, definitions: true, say: (line: string) => said.push(line) };
    expect(await uninstall({ ...kubernetes, patch, delete: remove }, run)).toEqual({
      left: [],
      held: [],
      refused: [
        'Node a: changing a: 403 Forbidden: denied by a webhook',
        'NodeClaim new-a: changing new-a: 403 Forbidden: denied by a webhook',
        'Node c: changing c: 403 Forbidden: denied by a webhook',
      ],
      failed: [],
      rules: [],
      cordoned: [],
    });
    expect(said).toEqual([
      'taken example.com/custom off Node b',
      'deleted NodeClaim new-b, a replacement that no pod may use yet',
      'taken karpenter.sh/do-not-disrupt and curfew.dev/protected-until off Node b',
      'taken karpenter.sh/do-not-disrupt and curfew.dev/protected-until off Node d',
    ]);
  });

  it('goes on where a right is missing or the API server fails, and names what could not be done', async () => {
    const core = createCluster({ now: () => toEpochMs(0) });
    const finalizers = ['example.com/custom'];
    const held = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': '2024-11-01T15:00:00Z' };
    for (const name of ['a', 'b', 'c', 'd']) core.seed(node(name, { annotations: { ...marked, ...held }, finalizers }));
    const kubernetes = createInProcessKubernetesApi(core, 'test');
    const fails = (reason: string, message: string): never => {
      throw new RetryableError(message, { reason });
    };
    let tries = 0;
    const patch: typeof kubernetes.patch = (ref, change, options) => {
      if (ref.name === 'a') fails('Forbidden', 'patching nodes a: 403 Forbidden: no');
      if (ref.name === 'b') fails('Status500', 'patching nodes b: 500 InternalError: etcd');
      if (ref.name === 'c' && (tries += 1) === 1) fails('Status503', 'patching nodes c: 503 ServiceUnavailable: soon');
      return kubernetes.patch(ref, change, options);
    };
    const list: typeof kubernetes.list = (type, options) =>
      type.resource === 'nodepools' ? fails('Forbidden', 'listing nodepools: 403 no') : kubernetes.list(type, options);
    const get: typeof kubernetes.get = ref =>
      ref.name === 'termination.curfew.dev' ? fails('Status500', `getting ${ref.name}: 500`) : kubernetes.get(ref);
    const said: string[] = [];
    const run = { ...RUN, releaseHolds: true, definitions: true, say: (line: string) => said.push(line) };
    const remains = await uninstall({ ...kubernetes, patch, list, get }, run);
    expect(remains).toMatchObject({
      held: [],
      refused: ['every NodePool: listing nodepools: 403 no', 'Node a: patching nodes a: 403 Forbidden: no'],
    });
    expect(remains.failed).toEqual([
      'mutatingadmissionpolicybindings termination.curfew.dev: getting termination.curfew.dev: 500',
      'mutatingadmissionpolicies termination.curfew.dev: getting termination.curfew.dev: 500',
      'Node b: patching nodes b: 500 InternalError: etcd',
    ]);
    expect(said.toSorted()).toEqual([
      'taken example.com/custom off Node c',
      'taken example.com/custom off Node d',
      'taken karpenter.sh/do-not-disrupt and curfew.dev/protected-until off Node c',
      'taken karpenter.sh/do-not-disrupt and curfew.dev/protected-until off Node d',
    ]);
  });

  it('deletes a definition once more that changed in the moment of its deletion, and names one that changes again and again', async () => {
    const embedded = await startEmbeddedCluster(systemClock, 0);
    try {
      const kubernetes = createInProcessKubernetesApi(embedded.core, 'test');
      let conflicts = 1;
      const remove: typeof kubernetes.delete = (ref, options) => {
        if ((conflicts -= 1) >= 0) return Promise.resolve({ kind: 'conflict', message: 'it has changed' });
        return kubernetes.delete(ref, options);
      };
      const said: string[] = [];
      const run = { ...RUN, releaseHolds: true, definitions: true, say: (line: string) => said.push(line) };
      conflicts = 100;
      expect(await uninstall({ ...kubernetes, delete: remove }, run)).toMatchObject({
        held: [
          'customresourcedefinitions nodelifecyclepolicies.curfew.dev',
          'customresourcedefinitions finalizerrules.curfew.dev',
        ],
      });
      expect(said).toEqual([]);
      conflicts = 1;
      expect(await uninstall({ ...kubernetes, delete: remove }, run)).toMatchObject({ held: [] });
      expect(said.toSorted()).toEqual([
        'deleted the definition finalizerrules.curfew.dev',
        'deleted the definition nodelifecyclepolicies.curfew.dev',
      ]);
    } finally {
      await embedded.close();
    }
  });

  it('changes nothing in a dry run', async () => {
    const kubernetes = cluster();
    const before = await objectsIn(kubernetes, RESOURCES.Node);
    const said: string[] = [];
    await uninstall(kubernetes, { ...RUN, dryRun: true, say: line => said.push(line) });
    expect(await objectsIn(kubernetes, RESOURCES.Node)).toEqual(before);
    expect(said).toContain('taken example.com/custom off Node replaced, put karpenter.sh/termination on');
  });

  it('says so when there is nothing to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
    const embedded = await startEmbeddedCluster(systemClock, 0);
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, embedded.kubeconfig());
      let said = '';
      const output = { out: (text: string) => (said += text), error: (text: string) => (said += text) };
      expect(await uninstallCommand({ kubeconfig }, output)).toBe(0);
      expect(said).toBe('Nothing carries a termination finalizer of Curfew.\n');
    } finally {
      await embedded.close();
      rmSync(folder, { recursive: true });
    }
  });
});
