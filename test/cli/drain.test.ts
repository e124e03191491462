import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { follow, type FollowResult } from '../../cli/drain/follow.ts';
import { drainCommand, type DrainOptions } from '../../cli/drain.ts';
import { explainCommand } from '../../cli/explain.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { RetryableError } from '../../shared/errors.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { runCurfew } from './run-curfew.ts';

const REQUESTED = 'curfew.dev/drain-requested';
const ANSWER = 'curfew.dev/drain-answer';
const CONFIG = `
systemNamespaces = "^kube-system$"
[[userNamespaces]]
name = "web"
mode = "Immediate"
[[userNamespaces]]
name = "batch"
mode = "AllowCompletion"
[[userNamespaces]]
name = "ml"
mode = "DeleteAfterTimeout"
`;

let folder: string;
let cluster: EmbeddedCluster;
let kubeconfig: string;
const ref = { type: RESOURCES.Node, name: 'n1' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  cluster = await startEmbeddedCluster(systemClock, 0);
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig());
  const { core } = cluster;
  const pod = (namespace: string, name: string, metadata: object = {}) =>
    core.seed({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, ...metadata }, spec: { nodeName: 'n1' } });
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': CONFIG },
  });
  core.seed({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'web', name: 'front', generation: 1 },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'front' } } },
    status: { disruptionsAllowed: 0, observedGeneration: 1 },
  });
  pod('web', 'a', { labels: { app: 'front' } });
  pod('web', 'b', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
  pod('batch', 'job');
  pod('ml', 'train');
  pod('ml', 'kept', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
  pod('other', 'x');
  pod('kube-system', 'dns');
  pod('web', 'ds', { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u' }] });
});
beforeEach(() => annotate({ [REQUESTED]: null, [ANSWER]: null, 'curfew.dev/drain': null }));
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

const annotate = (annotations: Record<string, string | null>): void =>
  void cluster.core.patch(ref, { type: 'merge', body: { metadata: { annotations } } });
const annotation = (name: string): string | undefined => cluster.core.get(ref).metadata.annotations?.[name];

async function drain(name: string, options: DrainOptions = {}) {
  let [out, error] = ['', ''];
  const output = { out: (text: string) => (out += text), error: (text: string) => (error += text) };
  const code = await drainCommand(name, { kubeconfig, ...options }, output);
  return { code, out, error };
}

const interrupted = AbortSignal.abort();

describe('curfew drain --dry-run', () => {
  it('says what would become of every pod, and what is in its way, and writes nothing', async () => {
    const before = cluster.core.get(ref).metadata.resourceVersion;
    const { code, out } = await drain('n1', { dryRun: true });
    expect(code).toBe(0);
    const lines = out.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T').split('\n');
    expect(lines).toEqual([
      'Node n1 would be drained: 2 to evict, 2 to delete after the time-out, 1 to wait for, 3 to stay; 3 blocked',
      '  batch/job: waited for until it ends by itself',
      '  kube-system/dns: stays: its namespace is a system namespace',
      '  ml/kept: deleted once its protection is taken off, at T at the earliest, unless it ends before',
      '    blocked: protected',
      '  ml/train: deleted at T unless it ends before',
      '  other/x: stays: no rule of the configuration matches it',
      '  web/a: evicted once that is allowed',
      '    blocked: PodDisruptionBudget front allows no disruption now',
      '  web/b: evicted once its protection is taken off',
      '    blocked: protected',
      '  web/ds: stays: it is of a DaemonSet',
      '',
    ]);
    expect(cluster.core.get(ref).metadata.resourceVersion).toBe(before);
  });

  it('says it as JSON, instants in RFC 3339', async () => {
    const { out } = await drain('n1', { dryRun: true, output: 'json' });
    const plan = JSON.parse(out) as { pods: unknown[] };
    expect(plan).toMatchObject({ node: 'n1' });
    expect(plan.pods).toContainEqual(
      expect.objectContaining({ name: 'train', time: expect.stringMatching(/^20.*Z$/) }),
    );
  });
});

describe('curfew drain', () => {
  it('of a configuration that is not valid says so, and that the last valid one holds', async () => {
    const config = { type: RESOURCES.ConfigMap, namespace: 'curfew', name: 'curfew-config' };
    const set = (text: string) =>
      cluster.core.patch(config, { type: 'merge', body: { data: { 'config.toml': text } } });
    set('drainGPUPods = 1\n');
    const { code, out } = await drain('n1', { dryRun: true });
    set(CONFIG);
    expect(code).toBe(1);
    expect(out).toContain('Node n1 would not be drained now: ');
    expect(out).toContain('  held: the configuration is not valid: line 1: drainGPUPods: ');
    expect(out).toContain('  web/a: no valid configuration says how it goes');
    expect(out).toContain('A drain follows the last valid one, or waits if there was none');
  });

  it('as JSON writes how it ended, and nothing else, to standard output', async () => {
    const { code, out, error } = await drain('n1', { interrupted, output: 'json' });
    expect(code).toBe(130);
    expect(JSON.parse(out)).toEqual({ node: 'n1', id: annotation(REQUESTED), result: 'interrupted' });
    expect(error).toContain('asked for drain manual-');
  });

  it('asks on the Node; who stops following hears how to follow or cancel, and the drain goes on', async () => {
    const { code, out } = await drain('n1', { interrupted });
    expect(code).toBe(130);
    expect(annotation(REQUESTED)).toMatch(/^manual-\d+-[0-9a-f]{6}$/);
    expect(out).toContain(`asked for drain ${annotation(REQUESTED)}`);
    expect(out).toContain('the drain goes on. Follow it: npx curfew drain n1');
    expect(out).toContain(`Cancel it: npx curfew drain n1 --kubeconfig ${kubeconfig} --cancel`);
  });

  it('says as a process of its own how it goes, and leaves the drain running at Ctrl-C', async () => {
    const { code, stdout, stderr } = await runCurfew(['drain', 'n1', '--kubeconfig', kubeconfig], seen => {
      // As Curfew would once it has seen the request.
      const isSeen = seen.includes('asked for drain') && annotation('curfew.dev/drain') === undefined;
      if (isSeen) annotate({ 'curfew.dev/drain': '{"id":"m1","since":"2024-11-01T15:00:00Z"}' });
      return seen.includes('8 pods on the node');
    });
    expect({ code, stderr: stderr.replace(/^.*(?:Warning|--trace-warnings).*$/gm, '').trim() }).toEqual({
      code: 130,
      stderr: '',
    });
    expect(stdout).toMatch(
      /asked for drain manual-.*\n8 pods on the node\n[^]*the drain goes on\. Follow it: npx curfew drain n1/,
    );
    expect(stdout).toContain(`Cancel it: npx curfew drain n1 --kubeconfig ${kubeconfig} --cancel`);
    expect(annotation(REQUESTED)).toMatch(/^manual-/);
    expect(annotation('curfew.dev/drain')).toBeDefined();
  });

  it('follows a request that has no answer yet in place of a new one', async () => {
    annotate({ [REQUESTED]: 'm7' });
    expect((await drain('n1', { interrupted })).out).toContain('drain m7 was asked for before: following it');
    annotate({ [ANSWER]: '{"id":"m7","status":"Succeeded","message":"","left":[]}' });
    expect((await drain('n1', { interrupted })).out).toContain('asked for drain manual-');
  });

  it('shows an id that somebody made up as escapes', async () => {
    const id = 'x\u001b[2J\u202Ey\nSucceeded: all is well';
    const shown = String.raw`x\u001b[2J\u202ey\nSucceeded: all is well`;
    annotate({ [REQUESTED]: id });
    expect((await drain('n1', { interrupted })).out).toContain(`drain ${shown} was asked for before`);
    annotate({ [REQUESTED]: id });
    expect((await drain('n1', { cancel: true })).out).toContain(`the request ${shown} is withdrawn`);
  });

  it('withdraws with --cancel, and uncordons where others asked', async () => {
    annotate({ [REQUESTED]: 'm7' });
    expect(await drain('n1', { cancel: true })).toMatchObject({ code: 0, error: '' });
    expect(annotation(REQUESTED)).toBeUndefined();
    expect(await drain('n1', { cancel: true })).toMatchObject({ code: 1, error: 'no drain of node n1 is under way\n' });
    annotate({ 'curfew.dev/drain': '{"id":"e1","since":"2024-11-01T15:00:00Z"}' });
    // Nothing keeps new pods away, so that uncordoning it would cancel nothing.
    expect(await drain('n1', { cancel: true })).toMatchObject({
      code: 1,
      error: expect.stringContaining('is not cordoned, so that uncordoning it cancels nothing') as string,
    });
    cluster.core.patch(ref, { type: 'merge', body: { spec: { unschedulable: true } } });
    expect((await drain('n1', { cancel: true })).out).toContain('which cancels drain e1');
    expect(cluster.core.get(ref)['spec']).not.toHaveProperty('unschedulable');
  });

  it('ends with 1 for a node that is not there, 2 for a cluster that is not', async () => {
    expect(await drain('n9')).toEqual({ code: 1, out: '', error: 'node n9 does not exist: there is n1\n' });
    expect(await drain('n1', { kubeconfig: '/does/not/exist' })).toMatchObject({ code: 2, out: '' });
  });

  it('is explained while it is under way', async () => {
    annotate({ 'curfew.dev/drain': '{"id":"e1","since":"2024-11-01T15:00:00Z"}' });
    let out = '';
    const output = { out: (text: string) => (out += text), error: (text: string) => (out += text) };
    expect(await explainCommand('node', 'n1', { kubeconfig }, output)).toBe(0);
    expect(out).toContain('  drain: e1 is under way, asked for 2024-11-01T15:00:00Z');
    expect(out).toContain('    ml/train: deleted at 2024-11-01T16:00:00Z unless it ends before');
    expect(out).toContain('      blocked: PodDisruptionBudget front allows no disruption now');
    out = '';
    await explainCommand('node', 'n1', { kubeconfig, output: 'json' }, output);
    expect(JSON.parse(out)).toMatchObject({
      lifecycle: { drain: { underWay: { id: 'e1', since: '2024-11-01T15:00:00Z' } } },
    });
  });
});

describe('following', () => {
  async function followed(steps: readonly (() => void)[]): Promise<{ result: FollowResult; said: string[] }> {
    const said: string[] = [];
    const rest = [...steps];
    annotate({ [REQUESTED]: 'm7' });
    const result = await follow(createInProcessKubernetesApi(cluster.core, 'cli'), {
      name: 'n1',
      uid: cluster.core.get(ref).metadata.uid,
      id: 'm7',
      say: line => said.push(line),
      pause: () => Promise.resolve(rest.shift()?.()),
      isOver: () => rest.length === 0 && steps.length > 0,
    });
    return { result, said };
  }

  it('ends with the answer that the Node has, after the pods that were left', async () => {
    const { result, said } = await followed([
      () => annotate({ 'curfew.dev/drain': '{"id":"m7","since":"2024-11-01T15:00:00Z"}' }),
      () => annotate({ [ANSWER]: '{"id":"m6","status":"Failed","message":"","left":[]}' }),
      () => annotate({ [ANSWER]: '{"id":"m7","status":"Succeeded","message":"2 pods were drained","left":["a/b"]}' }),
      () => undefined,
    ]);
    expect(result).toEqual({
      kind: 'answered',
      id: 'm7',
      status: 'Succeeded',
      message: '2 pods were drained',
      left: ['a/b'],
    });
    expect(said).toEqual(['8 pods on the node']);
  });

  it('says Events in the order in which they were written, not by name', async () => {
    const event = (name: string, reason: string) =>
      cluster.core.seed({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'default', name },
        involvedObject: { kind: 'Node', name: 'n1' },
        reason,
        message: 'x',
      });
    const { said } = await followed([
      () => {
        event('b', 'DrainStarted');
        event('a', 'Evicted');
      },
      () => undefined,
      () => undefined,
    ]);
    expect(said).toEqual(['DrainStarted: x', 'Evicted: x']);
  });

  it('ends when the request is withdrawn', async () => {
    const { result } = await followed([() => annotate({ [REQUESTED]: null }), () => undefined]);
    expect(result).toEqual({ kind: 'withdrawn' });
  });

  it.each([
    [
      'goes on while the API server is away',
      'ECONNREFUSED',
      ['cannot be followed for now: reading: ECONNREFUSED', 'the API server answers again'],
    ],
    [
      'leaves the drain to itself where its Events may not be read',
      'Forbidden',
      ['cannot be followed: reading: Forbidden'],
    ],
  ])('%s', async (_, reason, lines) => {
    annotate({ [REQUESTED]: 'm7' });
    const api = createInProcessKubernetesApi(cluster.core, 'cli');
    const said: string[] = [];
    let looks = 0;
    const result = await follow(
      {
        ...api,
        list: (...given) =>
          looks++ < 2 ? Promise.reject(new RetryableError(`reading: ${reason}`, { reason })) : api.list(...given),
      },
      {
        name: 'n1',
        uid: cluster.core.get(ref).metadata.uid,
        id: 'm7',
        say: line => said.push(line),
        pause: () => Promise.resolve(),
        isOver: () => looks > 5,
      },
    );
    expect(result).toEqual({ kind: 'interrupted' });
    expect(said).toEqual(lines);
  });

  it('says that nobody answers', async () => {
    const { result, said } = await followed(Array.from({ length: 40 }, () => () => undefined));
    expect(result).toEqual({ kind: 'interrupted' });
    expect(said).toEqual([expect.stringContaining('nobody has answered yet')]);
  });
});
