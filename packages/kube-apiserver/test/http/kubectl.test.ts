/** What the real kubectl prints and does. Runs where kubectl is on PATH, and says so where it is not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificateAuthority } from '../../../../test/control-plane/pki.ts';
import { findKubectl, kubectlFor, type Kubectl } from './kubectl.ts';
import { serveTestCore, widgetDefinition, type Served } from './served-core.ts';

const binary = findKubectl();

if (binary === undefined) process.stderr.write('kubectl is not on PATH: what it prints and does is not tested\n');

const widget = (name: string, size: number, more: Record<string, unknown> = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, ...more },
  spec: { size },
});

/** Text of a table with runs of spaces made one, so that columns may be as wide as they like. */
function cells(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map(line => line.trimEnd().replaceAll(/ {2,}/g, ' | '));
}

describe.runIf(binary !== undefined)('kubectl on PATH', { timeout: 60_000 }, () => {
  let served: Served;
  let kubectl: Kubectl;
  const ok = async (command: string, input?: unknown): Promise<string> => await kubectl.ok(command.split(' '), input);
  const fails = async (command: string, input?: unknown): Promise<string> => {
    const { code, out, err } = await kubectl.run(command.split(' '), input);
    expect([command, code === 0]).toEqual([command, false]);
    return err + out;
  };

  beforeAll(async () => {
    served = await serveTestCore();
    served.advance(600_000);
    kubectl = await kubectlFor(binary ?? '', served.api.kubeconfig());
  });
  afterAll(async () => {
    await kubectl.dispose();
    await served.api.close();
  });

  test('prints tables, several kinds at once, wide ones and those of all namespaces', async () => {
    expect(cells(await ok('get nodes'))).toEqual([
      'NAME | STATUS | ROLES | AGE | VERSION',
      'n1 | Ready | <none> | 10m | v1.36.0',
    ]);
    expect(cells(await ok('get po -A -o wide'))[0]).toBe(
      'NAMESPACE | NAME | READY | STATUS | RESTARTS | AGE | IP | NODE | NOMINATED NODE | READINESS GATES',
    );
    const both = await ok('get no,po -n prod');
    expect(both).toContain('node/n1');
    expect(both).toContain('pod/web-1');
    expect(cells(await ok('get crd'))[1]).toMatch(/^widgets\.example\.com \| \d{4}-/);
    expect(await fails('get nope')).toContain(`the server doesn't have a resource type "nope"`);
  });

  test('selects by labels and fields and formats as it is told', async () => {
    expect(await ok('get pods -A -l app=db')).toBe('');
    expect(await ok('get pods -A --field-selector metadata.name=web-1 -o name')).toBe('pod/web-1\n');
    expect(await ok('get node n1 -o jsonpath={.metadata.labels.zone}')).toBe('a');
    expect(cells(await ok('get nodes -o custom-columns=N:.metadata.name'))).toEqual(['N', 'n1']);
    expect(await ok('get node n1 -o yaml')).toContain('kind: Node');
    expect(await ok('get pods -n prod --chunk-size=1 -o name')).toBe('pod/web-0\npod/web-1\n');
  });

  test('watches tables', async () => {
    const watch = kubectl.start(['get', 'nodes', '-w']);
    const next = async (): Promise<unknown> => (await watch.lines.next()).value;
    expect(await next()).toMatch(/^NAME/);
    expect(await next()).toMatch(/^n1 +Ready /);
    served.core.patch(
      { type: { group: '', version: 'v1', resource: 'nodes' }, name: 'n1' },
      { type: 'merge', body: { spec: { unschedulable: true } } },
    );
    expect(await next()).toMatch(/^n1 +Ready,SchedulingDisabled /);
    await watch.stop();
    expect(await ok('uncordon n1')).toBe('node/n1 uncordoned\n');
  });

  test('applies on the client side: creates, merges what changed, leaves the rest alone', async () => {
    expect(await ok('apply -f -', widget('a', 1))).toBe('widget.example.com/a created\n');
    expect(await ok('apply -f -', widget('a', 1))).toBe('widget.example.com/a unchanged\n');
    await ok('label widget a by=hand');
    expect(await ok('apply -f -', widget('a', 2))).toBe('widget.example.com/a configured\n');
    expect(await ok('get wd a -L by')).toMatch(/a +2 +\S* +hand/);
    const { code, out } = await kubectl.run(['diff', '-f', '-'], widget('a', 3));
    expect([code, out.includes('+  size: 3')]).toEqual([1, true]);
  });

  test('applies on the server side, with conflicts and force', async () => {
    const apply = 'apply --server-side -f -';
    expect(await ok(apply, widget('b', 1))).toBe('widget.example.com/b serverside-applied\n');
    expect(await fails(`${apply} --field-manager=other`, widget('b', 2))).toContain('.spec.size');
    await ok(`${apply} --field-manager=other --dry-run=server --force-conflicts`, widget('b', 2));
    expect(await ok('get wd b -o jsonpath={.spec.size}')).toBe('1');
    await ok(`${apply} --field-manager=other --force-conflicts`, widget('b', 2));
    expect(await ok('get wd b -o jsonpath={.spec.size}')).toBe('2');
  });

  test('has fields validated by the server', async () => {
    const unknown = { ...widget('c', 1), spec: { size: 1, colour: 'red' } };
    expect(await fails('apply -f -', unknown)).toContain('unknown field "spec.colour"');
    const warned = await kubectl.run(['apply', '-f', '-', '--validate=warn'], unknown);
    expect([warned.code, warned.err]).toEqual([0, 'Warning: unknown field "spec.colour"\n']);
    expect(await fails('create -f -', widget('d', 0))).toContain('should be greater than or equal to 1');
  });

  test('creates what it sends as protobuf', async () => {
    expect(await ok('create namespace made')).toBe('namespace/made created\n');
    await ok('create configmap c --from-literal=a=b -n made');
    expect(await ok('get configmap c -n made -o jsonpath={.data.a}')).toBe('b');
    await ok('create secret generic s --from-literal=a=b -n made');
    expect(await ok('get secret s -n made -o jsonpath={.data.a}')).toBe('Yg==');
    await ok('create pdb p --selector=app=x --max-unavailable=50% -n made');
    expect(cells(await ok('get pdb -n made'))[1]).toBe('p | N/A | 50% | 0 | 0s');
    await ok('create deployment d --image=i --replicas=0 -n made');
    expect(cells(await ok('get deploy -n made'))[1]).toBe('d | 0/0 | 0 | 0 | 0s');
    await ok('create job j --image=i -n made');
    await ok('create role r --verb=get --resource=pods -n made');
    await ok('create rolebinding b --role=r --serviceaccount=made:x -n made');
    await ok('create priorityclass pc --value=0');
  });

  test('patches in all its ways, labels, annotates and taints', async () => {
    await ok('patch wd a --type=merge -p {"spec":{"size":5}}');
    await ok('patch wd a --type=json -p [{"op":"replace","path":"/spec/size","value":6}]');
    expect(await fails('patch wd a --type=strategic -p {}')).toContain('is not supported');
    await ok(
      'patch wd a --subresource=status --type=merge -p {"status":{"conditions":[{"type":"Ready","status":"True"}]}}',
    );
    expect(cells(await ok('get wd a'))).toEqual([
      'NAME | SIZE | READY | AGE',
      expect.stringMatching(/^a \| 6 \| True \| /),
    ]);
    expect(await ok('wait --for=condition=Ready wd/a --timeout=5s')).toBe('widget.example.com/a condition met\n');
    await ok('annotate node n1 a=b');
    await ok('taint node n1 k=v:NoSchedule');
    await ok('taint node n1 l=v:NoExecute');
    await ok('taint node n1 k-');
    expect(await ok('get node n1 -o jsonpath={.spec.taints[*].key}')).toBe('l');
    expect(await fails('label node n1 zone=b')).toContain('--overwrite is false');
    await ok('replace -f -', widget('a', 7));
    expect(await ok('get wd a -o jsonpath={.spec.size}')).toBe('7');
  });

  test('describes objects with their events', async () => {
    served.core.seed({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'n1.1', namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1' },
      type: 'Warning',
      reason: 'NodeRepairBlocked',
      message: 'too many unhealthy nodes',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    });
    const node = await ok('describe node n1');
    expect(node).toContain('NodeRepairBlocked');
    expect(node).toMatch(/prod +web-0/);
    expect(await ok('describe pod web-0 -n prod')).toMatch(/Node: +n1/);
    expect(await ok('describe wd a')).toMatch(/Size: +7/);
    expect(cells(await ok('get events'))[1]).toBe(
      '10m | Warning | NodeRepairBlocked | node/n1 | too many unhealthy nodes',
    );
    expect(await ok('events --for node/n1')).toContain('NodeRepairBlocked');
  });

  test.each([
    ['logs web-0 -n prod', 'no container runs in the embedded API server: there are no logs'],
    ['exec web-0 -n prod -- ls', 'no container runs in the embedded API server: there is nothing to execute in'],
    ['attach web-0 -n prod', 'no container runs in the embedded API server: there is nothing to attach to'],
    ['port-forward pod/web-0 -n prod 8080:80', 'no container runs in the embedded API server: no port listens'],
    ['debug web-0 -n prod --image=i', 'no container runs in the embedded API server'],
    ['debug node/n1 --image=i', 'no container runs in the embedded API server: there is nothing to debug with'],
    [
      'create token default -n made',
      'the embedded API server issues no tokens: act as one with --as=system:serviceaccount:made:default',
    ],
    ['scale deployment d -n made --replicas=1', 'has no deployments/scale: patch spec.replicas'],
  ])('says why there is no %s', async (command, why) => {
    expect(await fails(command)).toContain(why);
  });

  test('cordons and drains with evictions', async () => {
    served.core.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'gone', namespace: 'made' },
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }] },
    });
    const writes: string[] = [];
    const observing = served.core.observe(write => writes.push(`${write.verb} ${write.ref.name}`));
    const out = await ok('drain n1 --force --pod-selector=app!=web --timeout=20s');
    observing.stop();
    expect(out).toContain('pod/gone evicted');
    expect(writes).toContain('evict gone');
    expect(cells(await ok('get nodes'))[1]).toContain('Ready,SchedulingDisabled');
  });

  test('deletes, and waits for finalizers', async () => {
    await ok('create -f -', widget('f', 1, { finalizers: ['example.com/hold'] }));
    expect(await ok('delete wd f --wait=false')).toBe('widget.example.com "f" deleted\n');
    expect(await ok('get wd f -o jsonpath={.metadata.deletionTimestamp}')).toMatch(/^2026-/);
    const waiting = ok('wait --for=delete wd/f --timeout=10s');
    await ok('patch wd f --type=merge -p {"metadata":{"finalizers":null}}');
    await waiting;
    expect(await ok('delete wd f --ignore-not-found')).toBe('');
    expect(await ok('delete wd --all')).toContain('widget.example.com "a" deleted');
  });

  test('explains, lists what is served, and asks what it may do', async () => {
    expect(await ok('explain widget.spec.size')).toContain('How large it is.');
    expect(await ok('explain node')).toContain('Node is a machine that runs pods.');
    expect(await ok('api-versions')).toContain('example.com/v1\n');
    expect(cells(await ok('api-resources --api-group=example.com'))[1]).toBe(
      'widgets | wd | example.com/v1 | false | Widget',
    );
    expect(await ok('version')).toMatch(/Server Version: v1\.\d+\.\d+\+curfew/);
    expect(await ok('auth can-i delete pods')).toBe('yes\n');
    expect(await ok('auth can-i --list')).toContain('*.*');
    expect(await ok('auth whoami')).toMatch(/Username +kubectl/);
    expect(await ok('get --raw /readyz')).toBe('ok');
  });

  test('names its user over TLS only, and impersonates there', async () => {
    const authority = createCertificateAuthority();
    const { certPem: cert, keyPem: key } = authority.issueServing();
    const secure = await serveTestCore({ tls: { key, cert, ca: authority.certPem } });
    const client = await kubectlFor(binary ?? '', secure.api.kubeconfig());
    expect(await client.ok(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])).toBe('admin');
    expect(await client.ok(['auth', 'whoami', '--as', 'bob'])).toMatch(/Username +bob/);
    await client.dispose();
    await secure.api.close();
  });

  test('takes a definition and its first object in one go, in the order given', async () => {
    const second = JSON.parse(JSON.stringify(widgetDefinition).replaceAll('idget', 'adget'));
    const gadget = { ...widget('g', 1), kind: 'Wadget' };
    expect(await fails('apply -f -', `${JSON.stringify(second)}\n${JSON.stringify(gadget)}`)).toContain(
      'ensure CRDs are installed first',
    );
    await ok('wait --for=condition=Established crd/wadgets.example.com --timeout=5s');
    expect(await ok('apply -f -', gadget)).toBe('wadget.example.com/g created\n');
    await ok('delete crd wadgets.example.com');
    expect(await fails('get wadgets')).toContain('could not find the requested resource');
  });
});
