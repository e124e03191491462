/**
 * From a deleted NodeClaim to an instance that has ended: the real forwarder, moto's EventBridge, SQS, DynamoDB and EC2, the synthesized
 * bundles, and the embedded API server with the roles of `deploy/rbac`.
 */
import { CloudFormationClient, CreateStackCommand, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DescribeInstancesCommand, EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEksUsers } from '../../cli/start/eks-users.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { startForwarderProcess } from '../../cli/start/forwarder-process.ts';
import { synthesize } from '../../cli/start/synthesize.ts';
import { loadAssembly } from '../../packages/local-aws/src/template.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { ENV } from '../../shared/contract/env.ts';
import { FORWARDER_ACCOUNT } from '../../shared/contract/permissions.ts';
import { CLUSTER_TAGS } from '../../shared/contract/tags.ts';
import { environmentOnMoto, startFunctions } from './functions.ts';
import { reasonToSkip, startMoto } from './install.ts';
import { forMoto, type Template } from './template.ts';

const reason = reasonToSkip();
const REGION = 'us-east-1';
const CLUSTER = 'prod';
const FINALIZER = 'example.com/custom';
/** Of the instance's end; the NodeClaim goes a look later. */
const WITHIN = { timeout: 90_000, interval: 500 };

describe.skipIf(reason !== undefined)(`on moto${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const parts = new AsyncDisposableStack();
  const audit: string[] = [];
  const problems: string[] = [];
  let cluster: EmbeddedCluster;
  let ec2: EC2Client;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-moto-'));
    parts.defer(() => rmSync(folder, { recursive: true, force: true }));
    const assemblyDir = join(folder, 'cdk.out');
    await synthesize(assemblyDir, { tempDir: folder });
    const moto = await startMoto();
    parts.defer(() => moto.stop());
    const { endpoint } = moto;
    const connected = { region: REGION, endpoint, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
    ec2 = new EC2Client(connected);
    const outputs = await deploy(new CloudFormationClient(connected), assemblyDir);
    const model = loadAssembly(assemblyDir, {
      region: REGION,
      account: '123456789012',
      sqsEndpoint: endpoint,
      parameters: { ClusterName: CLUSTER, ClusterEndpoint: 'http://unused', ClusterCertificateAuthority: 'Q0E=' },
    });
    // The access key of a function is its name; that of its role, so to say.
    const roleOf = (key: string) => model.functions.find(({ name }) => name === key)?.roleArn;
    cluster = await startEmbeddedCluster(systemClock, 0, createEksUsers({ model, roleOf }));
    parts.defer(() => cluster.close());
    const named = { [ENV.clusterName]: CLUSTER };
    const functions = await startFunctions({
      model,
      endpoint,
      region: REGION,
      outputs,
      cluster: { ...named, [ENV.clusterEndpoint]: cluster.url, [ENV.clusterCertificateAuthority]: '' },
      onLog: ({ record }) => void (record?.['audit'] === true && audit.push(String(record['decision']))),
      onProblem: problem => void problems.push(problem.message),
    });
    parts.defer(() => functions[Symbol.asyncDispose]());
    const kubeconfig = join(folder, 'kubeconfig');
    const { namespace, name } = FORWARDER_ACCOUNT;
    writeFileSync(kubeconfig, cluster.kubeconfig(`system:serviceaccount:${namespace}:${name}`), { mode: 0o600 });
    const forwarder = startForwarderProcess(
      {
        ...environmentOnMoto({ endpoint, region: REGION }, 'forwarder'),
        ...named,
        [ENV.eventBusName]: outputs.get('EventBusName') ?? '',
        KUBECONFIG: kubeconfig,
        HEALTH_HOST: '127.0.0.1',
        HEALTH_PORT: '0',
      },
      message => void problems.push(message),
    );
    parts.defer(() => forwarder.stop());
  });
  afterAll(async () => {
    ec2?.destroy();
    await parts.disposeAsync();
  });

  it('ends the instance of a NodeClaim that is deleted, that one alone, and lets the NodeClaim go', async () => {
    const [own, other] = await launch(ec2);
    const pool = { 'karpenter.sh/nodepool': 'edge' };
    const seed = (kind: string, apiVersion: string, metadata: object, rest: object): void =>
      void cluster.core.seed({ apiVersion, kind, metadata, ...rest });
    seed('NodePool', 'karpenter.sh/v1', { name: 'edge', labels: { team: 'edge' } }, { spec: {} });
    seed(
      'NodeLifecyclePolicy',
      'curfew.dev/v1alpha1',
      { name: 'edge' },
      {
        spec: {
          nodePoolSelector: { matchLabels: { team: 'edge' } },
          termination: { finalizerName: FINALIZER },
        },
      },
    );
    for (const [name, id] of [
      ['n1', own],
      ['n2', other],
    ] as const) {
      const providerID = `aws:///us-east-1a/${id}`;
      seed(
        'NodeClaim',
        'karpenter.sh/v1',
        { name, labels: pool },
        { spec: {}, status: { providerID, nodeName: name } },
      );
      const conditions = [{ type: 'Ready', status: 'True' }];
      seed('Node', 'v1', { name, labels: pool }, { spec: { providerID }, status: { conditions } });
    }
    const claim = `${cluster.url}/apis/karpenter.sh/v1/nodeclaims/n1`;
    const get = () => fetch(claim);
    await vi.waitFor(async () => expect(await (await get()).text()).toContain(FINALIZER), WITHIN);
    await fetch(claim, { method: 'DELETE' });
    await vi.waitFor(async () => expect(await statesOf(ec2, [own])).toEqual(['terminated']), WITHIN);
    await vi.waitFor(async () => expect((await get()).status).toBe(404), WITHIN);
    expect((await fetch(`${cluster.url}/api/v1/nodes/n1`)).status).toBe(404);
    expect(await statesOf(ec2, [other])).toEqual(['running']);
    expect((await fetch(`${cluster.url}/api/v1/nodes/n2`)).status).toBe(200);
    expect(audit).toEqual(expect.arrayContaining(['terminateInstance', 'release']));
    expect(problems).toEqual([]);
  }, 300_000);
});

async function deploy(client: CloudFormationClient, assemblyDir: string): Promise<ReadonlyMap<string, string>> {
  const Parameters = ['ClusterName', 'ClusterEndpoint', 'ClusterCertificateAuthority'].map(ParameterKey => ({
    ParameterKey,
    ParameterValue: ParameterKey === 'ClusterName' ? CLUSTER : 'Q0E=',
  }));
  for (const [StackName, id] of [
    ['CurfewState', 'State'],
    ['Curfew', 'Functions'],
  ] as const) {
    const template: Template = JSON.parse(readFileSync(join(assemblyDir, `${id}.template.json`), 'utf8'));
    await client.send(
      new CreateStackCommand({
        StackName,
        TemplateBody: JSON.stringify(forMoto(template)),
        Capabilities: ['CAPABILITY_IAM'],
        ...(StackName === 'Curfew' && { Parameters }),
      }),
    );
  }
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: 'Curfew' }));
  client.destroy();
  return new Map((Stacks[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

/** Two instances of the cluster. */
async function launch(client: EC2Client): Promise<readonly [string, string]> {
  const Tags = [{ Key: CLUSTER_TAGS[0], Value: CLUSTER }];
  const TagSpecifications = [{ ResourceType: 'instance' as const, Tags }];
  const request = new RunInstancesCommand({ ImageId: 'ami-12c6146b', MinCount: 2, MaxCount: 2, TagSpecifications });
  const { Instances = [] } = await client.send(request);
  const [own = '', other = ''] = Instances.map(({ InstanceId = '' }) => InstanceId);
  return [own, other];
}

async function statesOf(client: EC2Client, InstanceIds: readonly string[]): Promise<readonly (string | undefined)[]> {
  const { Reservations = [] } = await client.send(new DescribeInstancesCommand({ InstanceIds: [...InstanceIds] }));
  return Reservations.flatMap(({ Instances = [] }) => Instances.map(({ State }) => State?.Name));
}
