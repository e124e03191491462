/**
 * The `aws` commands of the documents, copied out of them, with the command line of AWS against moto, into which both stacks were deployed by
 * CloudFormation. What moto does not have is read by that command line, by its model of the service, and not sent.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOOPBACK } from '../../packages/local-aws/src/loopback.ts';
import { operationOutputId } from '../../shared/contract/operation-outputs.ts';
import { blocks, commands, DOCUMENTS } from '../docs/documents.ts';
import { documentOf } from '../docs/observability.ts';
import { synthesize } from '../infra/synthesized.ts';
import { reasonToSkip, startMoto } from './install.ts';
import * as python from './python-packages.ts';
import { startPolicySimulator } from './simulate-policy.ts';
import { forMoto, type Template } from './template.ts';

const AWS = { command: 'aws', name: 'awscli-1.46.3', requirement: 'awscli==1.46.3', variable: 'CURFEW_AWS_CLI' };
const reason = reasonToSkip() ?? python.reasonToSkip(AWS);
if (reason !== undefined) process.stdout.write(`skipped: ${reason}\n`);

const DEPLOY = /^aws cloudformation deploy /;
/** What moto does not have. */
const NOT_SENT = [
  /^aws lambda get-account-settings/,
  /^aws cloudformation update-termination-protection /,
  // It makes no exports by a change set, and the second stack imports some.
  DEPLOY,
  /aws eks \S+-(pod-identity-associations?|access-entry|access-entries|associated-access-policies) /,
];
const hasJq = spawnSync('jq', ['--version']).status === 0;
const isSent = (command: string): boolean =>
  !NOT_SENT.some(pattern => pattern.test(command)) && (hasJq || !command.includes('| jq '));

const [SANDBOX, RELEASES] = ['docs/sandbox.md', 'docs/releases.md'];
const all = [...new Set(DOCUMENTS.filter(({ file }) => file !== SANDBOX).flatMap(commands))].filter(
  command => /^(for \w+ in [\w ]+; do )?aws .* --/.test(command) && !command.startsWith('aws s3 '),
);
const shell = blocks(documentOf(SANDBOX)).filter(({ language }) => language === 'sh');
const names = shell.find(({ lines }) => lines.some(line => line.startsWith('simulate()')))?.lines ?? [];
/** Lines of the checklist that call AWS, with what they print where the line says so. */
const checks = shell
  .flatMap(({ lines }) => lines)
  .filter(line => /^(simulate|aws|[A-Z_]+=\$\(aws) /.test(line) && !names.includes(line))
  .map(line => /^(.*?)(?: {2}# (.+))?$/.exec(line) ?? [])
  .map(([, command = '', prints]) => ({ command, prints }));

describe.skipIf(reason !== undefined)(`on moto${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const region = 'us-west-2';
  const parts = new AsyncDisposableStack();
  let folder: string;
  let env: NodeJS.ProcessEnv;
  /** Assignments of the names, as the checklist has found them, and its function. */
  let found: string;
  let inbox: string;

  async function run(script: string) {
    const args = ['-euo', 'pipefail', '-c', script];
    const child = spawn('bash', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code: child.exitCode, out: out.trim(), error };
  }
  async function setUp(script: string): Promise<string> {
    const { code, out, error } = await run(script);
    if (code !== 0) throw new Error(`${script}: ${error}`);
    return out;
  }
  const filledIn = (command: string): string =>
    command
      .replaceAll(/\bTABLE\b/g, '"$TABLE"')
      .replaceAll(/(?<=--function-name )NAME/g, '"$FUNCTION"')
      .replaceAll(/(?<=--log-group-name )GROUP/g, '"$GROUP"')
      .replaceAll(/(?<=--queue-url )URL/g, inbox)
      .replaceAll(/\bCLUSTER\b|(?<=describe-cluster --name |ClusterName=)NAME/g, 'prod')
      .replaceAll('ACCOUNT-REGION', `123456789012-${region}`);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-moto-'));
    parts.defer(() => rmSync(folder, { recursive: true, force: true }));
    const moto = await startMoto();
    parts.defer(() => moto.stop());
    const iam = await startPolicySimulator(moto.endpoint);
    parts.defer(() => iam.stop());
    env = {
      ...process.env,
      PATH: [dirname(python.pathOf(AWS)), process.env['PATH']].join(delimiter),
      HOME: folder,
      AWS_ENDPOINT_URL: moto.endpoint,
      // moto finds a template in a bucket by a host of AWS, or by this one.
      AWS_ENDPOINT_URL_S3: moto.endpoint.replace(LOOPBACK, 'localhost'),
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    };
    const vpcId = await setUp(`aws ec2 describe-vpcs --query 'Vpcs[0].VpcId' --output text`);
    const subnets = await setUp(
      `aws ec2 describe-subnets --query 'Subnets[:2].[SubnetId,AvailabilityZone]' --output text`,
    );
    const pairs = subnets.split('\n').map(line => line.split('\t'));
    const [privateSubnetIds, availabilityZones] = [0, 1].map(index => pairs.map(pair => pair[index] ?? ''));
    const clusterSecurityGroupId = await setUp(
      `aws ec2 create-security-group --group-name cluster --description c --vpc-id ${vpcId} --query GroupId --output text`,
    );
    const { stateTemplate, functionsTemplate } = synthesize({
      privateAccess: { vpcId, availabilityZones, privateSubnetIds, clusterSecurityGroupId },
    });
    const release = join(folder, 'curfew-aws-VERSION');
    mkdirSync(join(release, 'code'), { recursive: true });
    writeFileSync(join(release, 'code', 'repair.zip'), '');
    for (const [name, template] of [
      ['CurfewState', stateTemplate],
      ['Curfew', functionsTemplate],
    ] as const) {
      const body = JSON.stringify(forMoto(template.toJSON() as Template));
      writeFileSync(join(release, `${name}.template.json`), body);
    }
    for (const command of commands(documentOf(RELEASES)).filter(each => each.startsWith('aws s3 ')))
      await setUp(filledIn(command));
    const parameters = ['ClusterName', 'ClusterEndpoint', 'ClusterCertificateAuthority'].map(
      name => `ParameterKey=${name},ParameterValue=${name.endsWith('Endpoint') ? 'https://abc' : 'prod'}`,
    );
    for (const [name, more] of [
      ['CurfewState', ''],
      ['Curfew', `--capabilities CAPABILITY_IAM --parameters ${parameters.join(' ')}`],
    ]) {
      const body = `--template-body file://curfew-aws-VERSION/${name}.template.json`;
      await setUp(`aws cloudformation create-stack --stack-name ${name} ${body} ${more}`);
    }
    const event = { Source: 'my.monitor', DetailType: 'DrainRequested', EventBusName: 'Curfew', Detail: '{}' };
    writeFileSync(join(folder, 'drain.json'), JSON.stringify([event]));
    found = await setUp(
      `${names.join('\n').replace('=CLUSTER', '=prod')}\ndeclare -p CLUSTER_NAME FUNCTION ROLE FORWARDER_ROLE GROUP BUS TABLE TABLE_ARN; declare -f simulate`,
    );
    // moto has none of IAM's simulator.
    env = { ...env, AWS_ENDPOINT_URL_IAM: iam.endpoint };
    const output = `Stacks[0].Outputs[?OutputKey=='${operationOutputId('repair', 'Inbox')}'].OutputValue`;
    const url = await setUp(`aws cloudformation describe-stacks --stack-name Curfew --query "${output}" --output text`);
    // For SQS the command does not read the variable.
    inbox = `${moto.endpoint}${new URL(url).pathname} --endpoint-url ${moto.endpoint}`;
    const line = JSON.stringify(JSON.stringify({ audit: true, decision: 'repair' }));
    const role = 'arn:aws:iam::123456789012:role';
    await setUp(`${found}
      aws eks create-cluster --name prod --role-arn ${role}/eks --resources-vpc-config subnetIds=${pairs[0]?.[0]},${pairs[1]?.[0]}
      aws eks create-nodegroup --cluster-name prod --nodegroup-name GROUP --node-role ${role}/node --subnets ${pairs[0]?.[0]}
      aws cloudwatch put-metric-alarm --alarm-name NAME --metric-name m --namespace n --period 60 --evaluation-periods 1 --threshold 1 --comparison-operator GreaterThanThreshold --statistic Sum
      aws cloudwatch put-metric-data --namespace AWS/Events --metric-name Invocations --dimensions EventBusName=Curfew,RuleName=r --value 1
      aws logs create-log-stream --log-group-name "$GROUP" --log-stream-name s
      aws logs put-log-events --log-group-name "$GROUP" --log-stream-name s --log-events '[{"timestamp":${Date.now()},"message":${line}}]'`);
  });
  afterAll(() => parts.disposeAsync());

  it('are found', () => {
    expect(all.length).toBeGreaterThan(25);
    expect(checks.length).toBeGreaterThan(10);
  });

  it.each(all.filter(isSent))('%s', async command => {
    const { code, error } = await run(`${found}\n${filledIn(command)}`);
    expect({ code, error }).toEqual({ code: 0, error: '' });
  });

  it.each(checks.filter(({ command }) => isSent(command)))('$command prints $prints', async ({ command, prints }) => {
    const { code, out, error } = await run(`${found}\n${command}`);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    if (prints !== undefined) expect(out).toBe(prints);
  });

  const parsed = [...all, ...checks.map(({ command }) => command)].filter(command => !isSent(command));
  it.each(parsed)('%s, which is parsed alone', async command => {
    const alone = command.replace(/^[A-Z_]+=\$\((.*)\)$/, '$1').replace(/ \| jq .*/, '');
    const only = DEPLOY.test(alone) ? '--no-execute-changeset' : '--generate-cli-skeleton output';
    const { code, error } = await run(`${found}\nOTHER=a-1\n${filledIn(alone)} ${only}`);
    expect({ code, failed: code === 0 ? '' : error }).toEqual({ code: 0, failed: '' });
  });
});
