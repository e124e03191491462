/** `curfew doctor` on stand-ins that refuse as AWS and Kubernetes do: what is right is ok, and each fault is found, with its remedy. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { doctorCommand, type DoctorOptions } from '../../cli/doctor.ts';
import { terminationPolicy } from '../../cli/policies/termination-policy.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { FUNCTION_DEFINITIONS } from '../../packages/curfew-cdk/src/function-definitions.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { FORWARDER_HEARTBEAT, FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { operationOutputId } from '../../shared/contract/operation-outputs.ts';
import { kubernetesGroupOf } from '../../shared/contract/permissions.ts';
import { ROUTES } from '../../shared/contract/routes.ts';
import { VERSION } from '../../shared/contract/version.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import { startAwsControlPlane, type AwsControlPlane } from '../fakes/aws-control-plane.ts';

const ENDPOINT = 'https://abc.gr7.us-east-1.eks.amazonaws.com';
const roleOf = (name: string): string => `arn:aws:iam::123456789012:role/${name}`;
const entryOf = (name: string): string => `GET /clusters/prod/access-entries/${roleOf(name)}`;
const configurationOf = (name: string): string =>
  `GET /2015-03-31/functions/arn:aws:lambda:us-east-1:123456789012:function:of-source-${name}/configuration`;
const secondsNow = (): number => Math.floor(Date.now() / 60_000) * 60;

const alarmQuery = z.object({
  AlarmNames: z.array(z.string()).optional(),
  AlarmNamePrefix: z.string().optional(),
  AlarmTypes: z.array(z.string()).optional(),
});

async function run(options: DoctorOptions) {
  let [out, error] = ['', ''];
  const output = { out: (text: string) => void (out += text), error: (text: string) => void (error += text) };
  const code = await doctorCommand(options, output);
  return { code, out, error };
}

describe('curfew doctor --stack', () => {
  let plane: AwsControlPlane;
  const onStack = () => run({ stack: 'Curfew' });
  const alarms: { AlarmName: string; StateValue: string; AlarmActions?: string[]; AlarmDescription?: string }[] = [];
  const isComposite = ({ AlarmName }: { readonly AlarmName: string }): boolean => AlarmName.endsWith('-Impaired');
  /** As CloudWatch: by the names or the prefix that is asked for, and of the types. */
  const alarmsFor = (input: unknown) => {
    const { AlarmNames, AlarmNamePrefix = '', AlarmTypes = ['MetricAlarm'] } = alarmQuery.parse(input);
    const found = alarms.filter(
      ({ AlarmName }) => AlarmNames?.includes(AlarmName) ?? AlarmName.startsWith(AlarmNamePrefix),
    );
    return {
      MetricAlarms: found.filter(alarm => !isComposite(alarm) && AlarmTypes.includes('MetricAlarm')),
      CompositeAlarms: found.filter(alarm => isComposite(alarm) && AlarmTypes.includes('CompositeAlarm')),
    };
  };

  beforeEach(async () => {
    plane = await startAwsControlPlane();
    const env = { ...plane.environment, AWS_MAX_ATTEMPTS: '1' };
    for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
    for (const name of FUNCTION_NAMES) {
      plane.outputs.set(operationOutputId(name, 'EventSource'), `source-${name}`);
      plane.outputs.set(operationOutputId(name, 'Schedule'), `tick-${name}`);
      plane.outputs.set(operationOutputId(name, 'Inbox'), `${plane.endpoint}/123456789012/${name}`);
      plane.outputs.set(operationOutputId(name, 'DeadLetters'), `${plane.endpoint}/123456789012/dead-${name}`);
      plane.eventSources.set(`source-${name}`, 'Enabled');
      plane.schedules.set(`tick-${name}`, { State: 'ENABLED' });
      plane.answers.set(configurationOf(name), () => ({
        Role: roleOf(name),
        Environment: { Variables: { CLUSTER_NAME: 'prod', CLUSTER_ENDPOINT: ENDPOINT } },
      }));
      plane.answers.set(entryOf(name), () => ({ accessEntry: { kubernetesGroups: [kubernetesGroupOf(name)] } }));
    }
    alarms.splice(
      0,
      alarms.length,
      { AlarmName: 'Curfew-MonitoringA', StateValue: 'OK', AlarmActions: ['arn:aws:sns:::t'] },
      { AlarmName: 'Curfew-Impaired', StateValue: 'OK' },
    );
    plane.outputs.set('AlarmPrefix', 'Curfew-Monitoring');
    plane.outputs.set('RecordsTableName', 'Records');
    plane.outputs.set('EventBusName', 'Curfew');
    plane.outputs.set('Version', VERSION);
    const table = { TableStatus: 'ACTIVE', DeletionProtectionEnabled: true };
    const indexes = [{ IndexName: 'due', IndexStatus: 'ACTIVE' }];
    const recovery = { PointInTimeRecoveryStatus: 'ENABLED' };
    const rules = [...ROUTES.map(({ name }) => name), 'Heartbeat'];
    const answers: Readonly<Record<string, (input: unknown) => object>> = {
      DescribeTable: () => ({ Table: { ...table, GlobalSecondaryIndexes: indexes } }),
      DescribeContinuousBackups: () => ({
        ContinuousBackupsDescription: { PointInTimeRecoveryDescription: recovery },
      }),
      GetQueueAttributes: () => ({ Attributes: { ApproximateNumberOfMessages: '0' } }),
      'GET /2016-08-19/account-settings': () => ({ AccountLimit: { UnreservedConcurrentExecutions: 1000 } }),
      'GET /clusters/prod': () => ({
        cluster: { endpoint: ENDPOINT, accessConfig: { authenticationMode: 'API_AND_CONFIG_MAP' } },
      }),
      'GET /clusters/prod/pod-identity-associations': () => ({ associations: [{ associationId: 'a-1' }] }),
      ListRules: () => ({
        Rules: rules.map(Name => ({
          Name,
          State: 'ENABLED',
          EventPattern: JSON.stringify({ 'detail-type': [Name === 'Heartbeat' ? FORWARDER_HEARTBEAT : Name] }),
        })),
      }),
      GetMetricData: () => ({ MetricDataResults: [{ Id: 'newest', Timestamps: [secondsNow()], Values: [1] }] }),
      DescribeAlarms: input => alarmsFor(input),
    };
    for (const [operation, answer] of Object.entries(answers)) plane.answers.set(operation, answer);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await plane.stop();
  });

  it('finds nothing wrong where nothing is', async () => {
    const { code, out, error } = await onStack();
    expect([code, error]).toEqual([0, '']);
    expect(out).toMatch(/^\d+ ok, 0 failed, 0 warning, 0 skipped$/m);
    expect(out).toMatch(/^ok +access entry of repair: curfew:repair$/m);
  });

  it.each<[string, () => void, RegExp]>([
    [
      'an event source that is off',
      () => void plane.eventSources.set('source-repair', 'Disabled'),
      /^FAILED +event source of repair: Disabled\n +→ curfew resume --stack Curfew$/m,
    ],
    [
      'a tick that is off',
      () => void plane.schedules.set('tick-timer', { State: 'DISABLED' }),
      /^FAILED +tick of timer: DISABLED\n +→ curfew resume/m,
    ],
    [
      'a function without an access entry, as after a cluster was created again',
      () => void plane.answers.set(entryOf('drain'), () => ({ status: 404, code: 'ResourceNotFoundException' })),
      /^FAILED +access entry of drain: .*role\/drain has none\n +→ npx cdk deploy --all --revert-drift/m,
    ],
    [
      'an access entry of other groups',
      () => void plane.answers.set(entryOf('drain'), () => ({ accessEntry: { kubernetesGroups: ['admins'] } })),
      /^FAILED +access entry of drain: has the groups admins, not curfew:drain\n/m,
    ],
    [
      'no identity for the forwarder',
      () => void plane.answers.set('GET /clusters/prod/pod-identity-associations', () => ({ associations: [] })),
      /^FAILED +identity of the forwarder: 0 .*\n +→ .*restart the forwarder/m,
    ],
    [
      'a cluster without access entries',
      () =>
        void plane.answers.set('GET /clusters/prod', () => ({
          cluster: { endpoint: ENDPOINT, accessConfig: { authenticationMode: 'CONFIG_MAP' } },
        })),
      /^FAILED +cluster prod: authentication mode CONFIG_MAP\n +→ aws eks update-cluster-config/m,
    ],
    [
      'another endpoint than the functions call',
      () =>
        void plane.answers.set('GET /clusters/prod', () => ({
          cluster: { endpoint: 'https://new', accessConfig: { authenticationMode: 'API' } },
        })),
      /^FAILED +cluster prod: its endpoint is https:\/\/new, the functions call https:\/\/abc/m,
    ],
    [
      'a forwarder that is silent',
      () => void plane.answers.set('GetMetricData', () => ({ MetricDataResults: [{ Timestamps: [] }] })),
      /^FAILED +heartbeat of the forwarder: none within 15 minutes\n +→ kubectl[^]*^FAILED +sweep of timers/m,
    ],
    [
      'a forwarder that has been silent for long',
      () =>
        void plane.answers.set('GetMetricData', () => ({ MetricDataResults: [{ Timestamps: [secondsNow() - 600] }] })),
      /^FAILED +heartbeat of the forwarder: (?:5\d\d|600) s ago/m,
    ],
    [
      'a rule that is missing',
      () => void plane.answers.set('ListRules', () => ({ Rules: [] })),
      /^FAILED +rules: 0 of \d+.*\n +→ npx cdk deploy --all --revert-drift$/m,
    ],
    [
      'a rule that is off',
      () => void plane.answers.set('ListRules', () => ({ Rules: [{ Name: 'ClusterToRepair', State: 'DISABLED' }] })),
      /^FAILED +rules: disabled: ClusterToRepair/m,
    ],
    [
      'a table without its index',
      () => void plane.answers.set('DescribeTable', () => ({ Table: { TableStatus: 'ACTIVE' } })),
      /^FAILED +table: Records ACTIVE, index missing\n/m,
    ],
    [
      'a table that is gone, which no permission brings back',
      () => void plane.answers.set('DescribeTable', () => ({ status: 400, code: 'ResourceNotFoundException' })),
      /^FAILED +table: cannot be found: ResourceNotFoundException.*\n +→ .*docs\/runbook\.md, "Restoring the table"$/m,
    ],
    [
      'queues that are gone',
      () => void plane.answers.set('GetQueueAttributes', () => ({ status: 400, code: 'QueueDoesNotExist' })),
      /^FAILED +inbox of repair: cannot be found: QueueDoesNotExist.*\n +→ npx cdk deploy --all --revert-drift$[^]*^FAILED +dead letters of repair: cannot be found/m,
    ],
    [
      'a tick that is gone',
      () => void plane.schedules.delete('tick-timer'),
      /^FAILED +tick of timer: cannot be found: ResourceNotFoundException.*\n +→ npx cdk deploy --all --revert-drift$/m,
    ],
    [
      'a cluster that is not there',
      () => void plane.answers.set('GET /clusters/prod', () => ({ status: 404, code: 'ResourceNotFoundException' })),
      /^FAILED +cluster prod: cannot be found: .*\n +→ correct cluster\.name/m,
    ],
    [
      'an alarm that rings',
      () =>
        void alarms.splice(0, alarms.length, {
          AlarmName: 'Curfew-MonitoringB',
          StateValue: 'ALARM',
          AlarmDescription: 'Runbook: "Backlog"',
        }),
      /^FAILED +alarm Curfew-MonitoringB: rings\n +→ Runbook: "Backlog"\n^WARNING alarm actions: no alarm tells anybody/m,
    ],
  ])('finds %s', async (_, breaks, expected) => {
    breaks();
    const { code, out } = await onStack();
    expect(out).toMatch(expected);
    expect(code).toBe(1);
  });

  it.each<[string, () => void, RegExp]>([
    [
      'dead letters',
      () => void plane.answers.set('GetQueueAttributes', () => ({ Attributes: { ApproximateNumberOfMessages: '3' } })),
      /^WARNING +dead letters of repair: 3 wait\n +→ curfew redrive/m,
    ],
    [
      'another version than its own',
      () => void plane.outputs.set('Version', '9.9.9'),
      /^WARNING +version: 9\.9\.9 is deployed, this command is \d+\.\d+\.\d+\n/m,
    ],
    [
      'a table that is not protected, as one that was restored',
      () => void plane.answers.set('DescribeContinuousBackups', () => ({})),
      /^WARNING +table: .*point-in-time recovery is off/m,
    ],
    [
      'an account of little concurrency',
      () =>
        void plane.answers.set('GET /2016-08-19/account-settings', () => ({
          AccountLimit: { UnreservedConcurrentExecutions: 10 },
        })),
      new RegExp(
        `^WARNING +concurrency of Lambda: 10 .*\\n +→ Curfew works on up to ${Object.values(FUNCTION_DEFINITIONS).reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0)} batches`,
        'm',
      ),
    ],
  ])('warns of %s, which is no failure', async (_, breaks, expected) => {
    breaks();
    const { code, out } = await onStack();
    expect([code, out]).toEqual([0, expect.stringMatching(expected)]);
  });

  it('looks at the alarms of the deployment that is named, the composite one too, and at no other of its stack', async () => {
    for (const [key, value] of Array.from(plane.outputs)) plane.outputs.set(`Prod${key}`, value);
    plane.outputs.set('ProdAlarmPrefix', 'Curfew-ProdMonitoring');
    const others = ['Curfew-StagingMonitoringA', 'Curfew-ProdEuMonitoringA', 'Staging-Impaired', 'Curfew-Impaired'];
    alarms.push(
      ...others.map(AlarmName => ({ AlarmName, StateValue: 'ALARM' })),
      { AlarmName: 'Curfew-ProdMonitoringA', StateValue: 'OK', AlarmActions: ['arn:aws:sns:::t'] },
      { AlarmName: 'Prod-Impaired', StateValue: 'OK' },
    );
    const { code, out } = await run({ stack: 'Curfew/Prod' });
    expect(out).toMatch(/^ok +alarms: 2$/m);
    expect([code, out]).toEqual([0, expect.not.stringContaining('rings')]);
    alarms.splice(0, alarms.length, ...alarms.filter(({ AlarmName }) => AlarmName !== 'Prod-Impaired'));
    alarms.push({ AlarmName: 'Prod-Impaired', StateValue: 'ALARM' });
    expect((await run({ stack: 'Curfew/Prod' })).out).toMatch(/^FAILED +alarm Prod-Impaired: rings/m);
  });

  it('says which permission it lacks, and goes on', async () => {
    plane.answers.set('DescribeTable', () => ({ status: 400, code: 'AccessDeniedException' }));
    const { code, out } = await onStack();
    expect(out).toMatch(/^skipped +table: cannot be asked: AccessDeniedException.*\n +→ grant dynamodb:DescribeTable/m);
    expect(out).toMatch(/^ok +alarms: 2$/m);
    // Nobody knows whether it is well.
    expect(code).toBe(1);
  });

  describe('with a cluster that is down, or a stack that cannot be read', () => {
    let folder: string;
    const kubeconfigOf = (server: string): string => {
      const file = join(folder, 'kubeconfig');
      const cluster = {
        clusters: [{ name: 'c', cluster: { server } }],
        contexts: [{ name: 'c', context: { cluster: 'c' } }],
      };
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'c', ...cluster }));
      return file;
    };
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
      vi.stubEnv('KUBECONFIG', kubeconfigOf('http://127.0.0.1:1'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it('still says what it has found of the stack', async () => {
      const { code, out } = await run({});
      expect(code).toBe(1);
      expect(out).toContain('ok      tick of timer: ENABLED');
      expect(out).toMatch(/^FAILED {2}cluster: http:\/\/127\.0\.0\.1:1 .*cannot be reached/m);
      expect(out).toContain(', 1 failed, 0 warning, 0 skipped');
    });

    it('still looks at the cluster', async () => {
      plane.outputs.clear();
      const embedded = await startEmbeddedCluster(systemClock, 0);
      try {
        const kubeconfig = join(folder, 'embedded');
        writeFileSync(kubeconfig, embedded.kubeconfig());
        vi.stubEnv('KUBECONFIG', kubeconfig);
        const { code, out } = await run({});
        expect(code).toBe(1);
        expect(out).toMatch(/^FAILED {2}stack Curfew: the stack Curfew has no functions of Curfew in its outputs/m);
        expect(out).toContain('ok      definition of FinalizerRule');
      } finally {
        await embedded.close();
      }
    });

    it('ends with 2 where neither can be asked, and says why of both', async () => {
      plane.outputs.clear();
      const { code, out, error } = await run({});
      expect(code).toBe(2);
      expect(out).toBe('');
      expect(error).toMatch(/^the stack Curfew has no functions .*; http:\/\/127\.0\.0\.1:1 .*cannot be reached.*\n$/);
    });
  });

  it('says in one line that there is no such stack', async () => {
    expect(await run({ stack: 'Other' })).toMatchObject({ code: 2, out: '', error: expect.stringContaining('Other') });
  });
});

describe('curfew doctor --kubeconfig', () => {
  let folder: string;
  let cluster: EmbeddedCluster;
  let kubeconfig: string;
  const forwarder = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'curfew-forwarder', namespace: 'curfew' },
    spec: { template: { spec: { containers: [{ name: 'forwarder', image: 'forwarder:1' }] } } },
    status: { readyReplicas: 2 },
  };
  const karpenter = (gates: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'karpenter', namespace: 'kube-system', labels: { 'app.kubernetes.io/name': 'karpenter' } },
    spec: {
      template: {
        spec: { containers: [{ name: 'c', image: 'karpenter:1.8', env: [{ name: 'FEATURE_GATES', value: gates }] }] },
      },
    },
  });
  const inCluster = () => run({ kubeconfig });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
    cluster = await startEmbeddedCluster(systemClock, 0);
    kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, cluster.kubeconfig());
  });
  afterAll(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true });
  });

  it('says what is missing of an installation that has begun', async () => {
    const { code, out } = await inCluster();
    expect(out).toMatch(/^FAILED +ConfigMap curfew\/curfew-config: is not there\n +→ kubectl apply -k deploy\//m);
    expect(out).toMatch(/^FAILED +forwarder: has no Deployment\n/m);
    expect(out).toMatch(/^ok +rights of repair: all there$/m);
    expect(out).toMatch(/^ok +rights of forwarder: all there$/m);
    expect(code).toBe(1);
  });

  it('finds nothing wrong where nothing is', async () => {
    cluster.core.seed({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'curfew-config', namespace: 'curfew' },
    });
    cluster.core.seed(forwarder);
    cluster.core.seed({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'curfew-forwarder', namespace: 'curfew' },
      spec: { holderIdentity: 'pod-1', renewTime: toTimestamp(systemClock.now()).replace('Z', '.000000Z') },
    });
    const { code, out } = await inCluster();
    expect(out).toMatch(/ ok, 0 failed, 0 warning, 0 skipped$/m);
    expect(code).toBe(0);
  });

  it('finds that Karpenter repairs too', async () => {
    cluster.core.seed(karpenter('NodeRepair=true,SpotToSpotConsolidation=false'));
    const { code, out } = await inCluster();
    expect(out).toMatch(
      /^FAILED +Karpenter in kube-system: karpenter:1\.8 repairs nodes by itself.*\n +→ take NodeRepair/m,
    );
    expect(code).toBe(1);
  });

  it('compares the admission policy of terminations with what it would print', async () => {
    const others = { nodeClaims: 'a.example/f', nodes: 'a.example/f', replaces: false };
    const termination = { finalizerName: 'a.example/f' };
    const spec = { nodePoolSelector: {}, mode: 'Enforce', termination };
    const [printed, binding] = terminationPolicy({ pools: new Map(), others });
    if (printed === undefined || binding === undefined) throw new Error('nothing is printed');
    const ofOtherPools = terminationPolicy({ pools: new Map(), others: { ...others, replaces: true } });
    const ofBefore = { ...printed, spec: { ...Object(printed['spec']), reinvocationPolicy: 'Never' } };
    const found = async (...manifests: readonly KubernetesManifest[]): Promise<string> => {
      const asking = {
        apiVersion: 'curfew.dev/v1alpha1',
        kind: 'NodeLifecyclePolicy',
        metadata: { name: 'all' },
        spec,
      };
      const refs = [asking, ...manifests].map(manifest => {
        const { apiVersion, kind, metadata } = cluster.core.seed(manifest);
        const type = cluster.core.resourceForKind(apiVersion, kind);
        if (type === undefined) throw new Error(`${kind} is not served`);
        return { type, name: metadata.name };
      });
      const { out } = await inCluster();
      for (const ref of refs) cluster.core.delete(ref);
      return /^(.*)MutatingAdmissionPolicy termination\.curfew\.dev: (.*\n.*)\n/m.exec(out)?.slice(1).join('') ?? '';
    };
    const apply = /→ npx curfew policies admission > admission\.yaml; kubectl apply -f admission\.yaml$/;
    expect(await found()).toBe('');
    expect(await found(printed, binding)).toMatch(/^ok +is as curfew policies admission prints it\n/);
    for (const [manifests, says] of [
      [[printed], /^WARNING has no binding of its name, so it judges nothing\n/],
      [ofOtherPools, /^WARNING NodePools or policies have changed since it was printed\n/],
      [[ofBefore, binding], /^WARNING is not of this version of Curfew: .* Kubernetes 1\.37 refuses Nodes /],
    ] as const) {
      const said = await found(...manifests);
      expect(said).toMatch(says);
      expect(said).toMatch(apply);
    }
  });

  it('says what Curfew has written onto a policy', async () => {
    cluster.core.seed({
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'web' },
      spec: {},
      status: { conditions: [{ type: 'Warning', status: 'True', reason: 'HooksDoNotHold', message: 'under Keep' }] },
    });
    const { out } = await inCluster();
    expect(out).toMatch(/^WARNING +NodeLifecyclePolicy web: HooksDoNotHold: under Keep\n +→ kubectl describe/m);
  });
});
