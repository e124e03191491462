/**
 * The commands of the documents, copied out of them and run, on an embedded API server and on the AWS endpoints of this machine: those that
 * need a shell in one, Curfew's own in this process. One that cannot run here needs a row that says why, so that a new command is either run or thought about.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { storyObjects } from '../../cli/start/story.ts';
import { findKubectl } from '../../packages/kube-apiserver/test/http/kubectl.ts';
import { startSqs, type LocalSqs } from '../../packages/local-aws/src/sqs.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { VERSION } from '../../shared/contract/version.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import { runHere } from '../cli/run-curfew.ts';
import { startAwsControlPlane, type AwsControlPlane } from '../fakes/aws-control-plane.ts';
import { commands, DOCUMENTS, GUIDES_ON_SERVE, inlineCommands, ROOT, shellLines, type Document } from './documents.ts';
import { isRunOnServe, NOT_RUN, NOT_RUN_ON_SERVE, reasonNotToRun } from './not-run.ts';

/** A guard against a hang alone, in milliseconds: a type check without its cache, beside other tests, takes more than half a minute. */
const HANGS_AFTER = 180_000;

/** The pod that `explain pod` is asked about. */
const protectedPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ci', name: 'e2e', annotations: { 'karpenter.sh/do-not-disrupt': '4h' } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'main:1' }] },
};

/** The policy that is asked about, and put into another mode. */
const policy = {
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name: 'default' },
  spec: { nodePoolSelector: {}, mode: 'Enforce', repair: {} },
};

/** The configuration with modes, so that `drain --dry-run` has a plan. */
function withDrainModes(manifest: KubernetesManifest): KubernetesManifest {
  if (manifest.kind !== 'ConfigMap') return manifest;
  const data = manifest['data'] as Readonly<Record<string, string>>;
  const toml = `${data[CONFIG_MAP.key] ?? ''}\n[[userNamespaces]]\nname = "*"\nmode = "AllowCompletion"\n`;
  return { ...manifest, data: { ...data, [CONFIG_MAP.key]: toml } };
}

/** The blocks of the guides run in their order, with what other documents repeat of them: guides.test.ts. */
const isGuide = ({ file }: Document): boolean => GUIDES_ON_SERVE.includes(file);
const inGuides = new Set(DOCUMENTS.filter(isGuide).flatMap(shellLines).filter(isRunOnServe));
const found = DOCUMENTS.flatMap(document => (isGuide(document) ? inlineCommands : commands)(document));
const all = [...new Set(found)].filter(command => !inGuides.has(command));
const run = all.filter(command => reasonNotToRun(command) === undefined);
/** In the order of the documents: one may need what an earlier one has made. */
const withKubectl = run.filter(command => command.startsWith('kubectl '));
const others = run.filter(command => !command.startsWith('kubectl '));

describe('the commands of the documents', () => {
  let home: string;
  let cluster: EmbeddedCluster;
  let plane: AwsControlPlane;
  let sqs: LocalSqs;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'curfew-docs-'));
    cluster = await startEmbeddedCluster(systemClock, 0);
    for (const manifest of storyObjects(toTimestamp(systemClock.now()))) cluster.core.seed(withDrainModes(manifest));
    const kubeconfig = join(home, '.kube', 'config');
    mkdirSync(dirname(kubeconfig));
    writeFileSync(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
    cluster.core.seed(protectedPod);
    cluster.core.seed(policy);
    plane = await startAwsControlPlane();
    sqs = await startSqs({ region: 'us-east-1', account: '000000000000' });
    await sqs.createQueues(['inbox', 'dead'].map(name => ({ name, arn: '', url: '', attributes: {} })));
    const url = (name: string): string => `${sqs.endpoint}/000000000000/${name}`;
    plane.outputs
      .set('Version', VERSION)
      .set('RepairEventSource', 'mapping-1')
      .set('RepairSchedule', 'tick-repair')
      .set('RepairInbox', url('inbox'))
      .set('RepairDeadLetters', url('dead'))
      .set('RecordsTableName', 'Records');
    plane.answers.set('GetItem', () => ({}));
    plane.eventSources.set('mapping-1', 'Enabled');
    plane.schedules.set('tick-repair', {
      State: 'ENABLED',
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { Arn: 'arn:aws:sqs:us-east-1:000000000000:inbox', RoleArn: 'arn:aws:iam::000000000000:role/ticks' },
    });
    const env = {
      HOME: home,
      // npm leaves its compiled code there.
      TMPDIR: home,
      KUBECONFIG: undefined,
      ...plane.environment,
      AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await sqs.stop();
    await plane.stop();
    await cluster.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** What the reader fills in, and where a file is written. */
  const filledIn = (command: string): string =>
    command
      .replaceAll(
        'FILES...',
        'examples/managed-database/manifests/crd.yaml examples/managed-database/manifests/rule.yaml',
      )
      .replaceAll('FILE', join(home, '.kube', 'config'))
      .replaceAll(/node (NAME|NODE|n1)/g, 'node node-1')
      .replaceAll('NAMESPACE/NAME', 'ci/e2e')
      .replaceAll('nodepool NAME', 'nodepool default')
      .replaceAll(/(policy|nodelifecyclepolicy) NAME/g, '$1 default')
      .replaceAll('drain NODE', 'drain node-1')
      .replaceAll('--stack STACK', '--stack Curfew')
      .replaceAll('PATH...', 'deploy/config deploy/samples')
      .replaceAll('~', home)
      .replaceAll(/snapshot\.yaml|admission\.yaml|patch\.json/g, file => join(home, file));

  async function shell(command: string) {
    const child = spawn('bash', ['-c', filledIn(command)], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code: child.exitCode, output: out + error };
  }

  /**
   * Curfew's own command without a process, which costs seconds; undefined: it is another one, or needs the shell. One goes the reader's
   * whole way, by npm.
   */
  async function here(command: string) {
    const [, script, words, file] =
      /^(?:npm run (?:--silent )?|npx )?(curfew|simulate)(?: --)? ([^>|]+?)(?: > (\S+))?$/.exec(command) ?? [];
    if (script === undefined || words === undefined || words.startsWith('crd-patch')) return undefined;
    const args = [...(script === 'simulate' ? ['simulate'] : []), ...filledIn(words).split(' ')];
    const { code, stdout, stderr } = await runHere(args);
    if (file !== undefined) writeFileSync(filledIn(file), stdout);
    return { code, output: stdout + stderr };
  }

  it('begin with `npm ci`, which does not warn of the Node that the README allows', () => {
    expect(readFileSync(join(ROOT, '.npmrc'), 'utf8')).toMatch(/^loglevel=error$/m);
  });

  it('are found', () => {
    expect(others.length).toBeGreaterThan(5);
    expect(withKubectl.length).toBeGreaterThan(2);
  });

  it.each(others)(
    '%s',
    async command => {
      const { code, output } = (await here(command)) ?? (await shell(command));
      expect({ code, output }).toMatchObject({ code: 0 });
    },
    HANGS_AFTER,
  );

  it.skipIf(findKubectl() === undefined).each(withKubectl)(
    '%s',
    async command => {
      const { code, output } = await shell(command);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
    HANGS_AFTER,
  );

  it('leave no reason over that no command has', () => {
    const unused = NOT_RUN.filter(([pattern]) => !all.some(command => pattern.test(command)));
    expect(unused).toEqual([]);
    const lines = DOCUMENTS.filter(isGuide).flatMap(shellLines);
    expect(NOT_RUN_ON_SERVE.filter(([pattern]) => !lines.some(line => pattern.test(line)))).toEqual([]);
  });
});
