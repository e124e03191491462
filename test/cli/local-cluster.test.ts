/** The cluster of `npm start -- --serve`, in the hands of the real kubectl. Runs where kubectl is on PATH, and says so where it is not. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClusterActors } from '../../cli/start/cluster-actors.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { playgroundObjects } from '../../cli/start/story.ts';
import { findKubectl, kubectlFor, type Kubectl } from '../../packages/kube-apiserver/test/http/kubectl.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';

const binary = findKubectl();
if (binary === undefined) process.stderr.write('kubectl is not on PATH: the local cluster is not tested with it\n');

const aPod = (name: string, metadata: object = {}, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { nodeName: 'node-3', containers: [{ name: 'main', image: 'main:1' }], ...spec },
});

describe.runIf(binary !== undefined)('the local cluster', { timeout: 60_000 }, () => {
  let cluster: EmbeddedCluster;
  let kubectl: Kubectl;
  const scheduler = createRealScheduler();
  const ok = async (command: string, input?: unknown): Promise<string> => await kubectl.ok(command.split(' '), input);
  /** What kubectl prints beside its result. */
  const applied = async (manifest: object): Promise<string> =>
    (await kubectl.run(['apply', '-f', '-'], manifest)).err.trim();

  beforeAll(async () => {
    cluster = await startEmbeddedCluster(systemClock, 0);
    for (const manifest of playgroundObjects(systemClock.now())) cluster.core.seed(manifest);
    startClusterActors(cluster.core, scheduler);
    kubectl = await kubectlFor(binary ?? '', cluster.kubeconfig());
  });
  afterAll(async () => {
    scheduler.close();
    await kubectl?.dispose();
    await cluster?.close();
  });

  it('runs pods that are bound, and ends them when they are deleted', async () => {
    await ok('create -f -', aPod('web'));
    await ok('wait --for=condition=Ready pod/web --timeout=20s');
    expect(await ok('get pod web -o jsonpath={.status.phase}')).toBe('Running');
    expect(await ok('delete pod web --timeout=20s')).toContain('pod "web" deleted');
    expect(await ok('get pods -o name')).toBe('');
  });

  it('gives a pod that takes long to stop its grace period', async () => {
    const slow = aPod(
      'slow',
      { annotations: { 'sim.curfew.dev/stops-after': 'never' } },
      { terminationGracePeriodSeconds: 1 },
    );
    await ok('create -f -', slow);
    await ok('wait --for=condition=Ready pod/slow --timeout=20s');
    expect(await ok('delete pod slow --timeout=20s')).toContain('pod "slow" deleted');
  });

  it('can be drained, under a budget', async () => {
    const labels = { app: 'web' };
    const spec = { minAvailable: 1, selector: { matchLabels: labels } };
    await ok('create -f -', { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'web' }, spec });
    for (const name of ['a', 'b']) await ok('create -f -', aPod(name, { labels }));
    await ok('wait --for=condition=Ready pod/a pod/b --timeout=20s');
    await ok('delete pod b --timeout=20s');
    expect((await kubectl.run(['drain', 'node-3', '--force', '--timeout=2s'])).err).toContain(
      "violate the pod's disruption budget",
    );
    await ok('delete pdb web');
    expect(await ok('drain node-3 --force --timeout=20s')).toContain('node/node-3 drained');
    expect(await ok('get pods -o name')).toBe('');
  });

  it('warns of an annotation that means something else', async () => {
    const annotated = (value: string) => aPod('bad', { annotations: { 'karpenter.sh/do-not-disrupt': value } });
    expect(await applied(annotated('4d'))).toContain(
      `Warning: Validation failed for ValidatingAdmissionPolicy 'do-not-disrupt-warning.curfew.dev' with binding 'do-not-disrupt-warning.curfew.dev': karpenter.sh/do-not-disrupt: "4d" is neither "true" nor a positive Go duration`,
    );
    await ok('delete pod bad');
    expect(await applied(annotated('4h'))).toBe('');
  });

  it('gives a pod without a node to one that takes it, and keeps it Pending where none does', async () => {
    const unbound = (name: string, spec: object = {}): object => aPod(name, {}, { nodeName: undefined, ...spec });
    await ok('create -f -', unbound('anywhere'));
    await ok('wait --for=condition=Ready pod/anywhere --timeout=20s');
    expect(await ok('get pod anywhere -o jsonpath={.spec.nodeName}')).not.toBe('node-3');
    await ok('create -f -', unbound('nowhere', { nodeSelector: { gpu: 'yes' } }));
    expect(await ok('get pod nowhere -o jsonpath={.spec.nodeName}')).toBe('');
    await ok('taint node node-4 gpu=yes:NoSchedule');
    await ok('label node node-4 gpu=yes');
    expect(await ok('get pod nowhere -o jsonpath={.spec.nodeName}')).toBe('');
    await ok('taint node node-4 gpu-');
    await ok('wait --for=condition=Ready pod/nowhere --timeout=20s');
    expect(await ok('get pod nowhere -o jsonpath={.spec.nodeName}')).toBe('node-4');
  });

  it('is installed as docs/deploying.md says: `kubectl apply -k deploy/` changes only what differs here, without a warning', async () => {
    const deploy = ['apply', '-k', fileURLToPath(new URL('../../deploy', import.meta.url))];
    const first = await kubectl.run(deploy);
    expect(first.err).not.toContain('last-applied-configuration');
    const others = first.out.split('\n').filter(line => line !== '' && !line.endsWith(' unchanged'));
    expect(others).toEqual([
      'configmap/curfew-config configured',
      expect.stringMatching(/^configmap\/curfew-forwarder-settings-\w+ created$/),
      'deployment.apps/curfew-forwarder created',
      'poddisruptionbudget.policy/curfew-forwarder created',
    ]);
  });

  it('says at once that it makes no pods of a Deployment', async () => {
    const { err } = await kubectl.run(['create', 'deployment', 'web', '--image=main:1']);
    expect(err).toContain('this local cluster has no controller of deployments: it makes no pods of them.');
    expect(err).not.toContain('rror');
  });

  it('ends a Node that is deleted with its NodeClaim', async () => {
    expect(await ok('delete node node-5 --timeout=30s')).toContain('node "node-5" deleted');
    expect(await ok('get nodeclaims -o name')).not.toContain('default-5\n');
  });
});
