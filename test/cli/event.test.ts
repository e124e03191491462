/** `curfew event send` on the bus of the local stack: what it puts there is what the functions read, and what they would refuse is not sent. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { narrateEvent, narrateWrite } from '../../cli/start/narrate.ts';
import { createTimeline } from '../../cli/start/timeline.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { readBusEvent } from '../../functions/drain/bus-event.ts';
import { clientEnvironment } from '../../packages/local-aws/src/client-environment.ts';
import { startCloudFormation } from '../../packages/local-aws/src/cloudformation.ts';
import { startEventBus, type LocalEventBus } from '../../packages/local-aws/src/event-bus.ts';
import { FAKE_CREDENTIALS } from '../../packages/local-aws/src/fake-credentials.ts';
import type { HttpServer } from '../../packages/local-aws/src/loopback.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { runHere } from './run-curfew.ts';

interface Sent {
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

const sent: Sent[] = [];
let bus: LocalEventBus;
let cloudFormation: HttpServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-event-'));
  const model = { region: 'us-east-1', account: '000000000000', buses: ['Curfew'], rules: [] };
  bus = await startEventBus({
    model,
    clock: systemClock,
    send: () => Promise.resolve(),
    onEvent: event => sent.push(event),
  });
  const stacks = [
    { name: 'Curfew', outputs: { EventBusName: 'Curfew', Cluster: 'local' } },
    { name: 'Older', outputs: { EventBusName: 'Curfew' } },
    { name: 'NoBus', outputs: { EventBusName: 'nowhere' } },
  ];
  cloudFormation = await startCloudFormation({ model: { ...model, stacks } });
  const nowhere = 'http://127.0.0.1:9';
  const others = { dynamoDb: nowhere, sqs: nowhere, ec2: nowhere, lambda: nowhere, logs: nowhere };
  const endpoints = { ...others, eventBridge: bus.endpoint, cloudFormation: cloudFormation.endpoint };
  const env = { ...clientEnvironment('us-east-1', endpoints, FAKE_CREDENTIALS), AWS_MAX_ATTEMPTS: '1' };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await bus.stop();
  await cloudFormation.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void sent.splice(0));

const send = (line: string): ReturnType<typeof runHere> => runHere(['event', 'send', ...line.split(' ')]);
/** As the drain function reads it. */
const readByDrain = ({ source, detailType, detail }: Sent): ReturnType<typeof readBusEvent> =>
  readBusEvent({ kind: 'busEvent', id: 'e', source, detailType, detail });

describe('curfew event send', () => {
  it('puts a HealthEvent on the bus, which asks for a drain', async () => {
    const { code, stdout } = await send('HealthEvent --node n1 --check GpuXid --message Xid79 --id e1');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'sent HealthEvent e1 to the bus Curfew\n' });
    expect(sent).toEqual([
      expect.objectContaining({
        source: 'curfew.operator',
        detailType: 'HealthEvent',
        detail: { id: 'e1', nodeName: 'n1', isHealthy: false, isFatal: true, checkName: 'GpuXid', message: 'Xid79' },
      }),
    ]);
    expect(sent.map(readByDrain)).toMatchObject([{ id: 'e1', nodeName: 'n1' }]);
  });

  it('gives each event an id of its own', async () => {
    await send('DrainRequested --node n1');
    await send('DrainRequested --node n1 --force --message why');
    expect(new Set(sent.map(({ detail }) => detail['id'])).size).toBe(2);
    expect(sent[1]?.detail).toMatchObject({ node: { name: 'n1' }, reason: 'why', force: true });
    expect(sent.map(readByDrain)).toMatchObject([{ nodeName: 'n1' }, { nodeName: 'n1' }]);
  });

  it('answers a hook, as a worker of the cluster', async () => {
    expect((await send('TerminationHookAnswered --key u1/deregister --result fail --message no')).code).toBe(0);
    expect(sent).toEqual([
      expect.objectContaining({
        source: 'curfew.worker',
        detailType: 'TerminationHookAnswered',
        detail: { cluster: 'local', key: 'u1/deregister', result: 'fail', message: 'no' },
      }),
    ]);
  });

  it('takes the whole detail from a file, or prints what it would send', async () => {
    const file = join(folder, 'event.yaml');
    writeFileSync(file, 'id: e9\nnodeName: n9\nisFatal: true\n');
    expect((await send(`HealthEvent --file ${file} --source monitor`)).code).toBe(0);
    expect(sent).toMatchObject([{ source: 'monitor', detail: { id: 'e9', nodeName: 'n9' } }]);
    const { stdout } = await send(`HealthEvent --file ${file} --dry-run`);
    expect(JSON.parse(stdout)).toMatchObject({ 'detail-type': 'HealthEvent', detail: { id: 'e9' } });
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['HealthEvent', 'HealthEvent needs --node, or the whole detail by --file'],
    [
      'DrainRequested --node n --key k',
      '--key does not go with DrainRequested: it takes --node, --id, --message, --force',
    ],
    [
      'TerminationHookAnswered --key x',
      'what the options say is no TerminationHookAnswered: detail.key must be UID/NAME',
    ],
    ['HealthEvent --node n --file x.yaml', 'give either --file or --node: the file has the whole detail'],
    ['HealthEvent --node n --stack NoBus', 'the bus nowhere'],
    ['HealthEvent --node n --stack Nope', 'reading the stack Nope: '],
    ['TerminationHookAnswered --key u/h --stack Older', 'the stack Older has no Cluster in its outputs'],
  ])('%s is refused in one sentence', async (line, message) => {
    const { code, stderr } = await send(line);
    expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(stderr).toContain(message);
    if (!line.includes('NoBus')) expect(sent).toEqual([]);
  });

  it('refuses a file that no function could read', async () => {
    const file = join(folder, 'bad.json');
    writeFileSync(file, '{ "id": "e1" }');
    const { code, stderr } = await send(`HealthEvent --file ${file}`);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `${file} is no HealthEvent: detail.nodeName: is missing, string expected\n`,
    });
  });
});

describe('the timeline of --serve', () => {
  function told(event: Sent): string {
    let text = '';
    const timeline = createTimeline({ isTTY: false, columns: 80, write: written => void (text += written) }, () => 0);
    narrateEvent(timeline, event);
    return text.replaceAll(/ +/g, ' ');
  }

  it('has the events of the bus with their keys, and how to answer', () => {
    const detail = { key: 'u1/deregister', hook: 'deregister', cluster: 'local' };
    expect(told({ source: 'curfew.finalizer', detailType: 'Deregister', detail })).toBe(
      ' finalizer event Deregister: key u1/deregister\n npx curfew event send TerminationHookAnswered --key u1/deregister --result succeed answers it\n',
    );
    expect(told({ source: 'monitor', detailType: 'HealthEvent', detail: { id: 'e1', nodeName: 'n1' } })).toBe(
      ' bus event HealthEvent from monitor: id e1, node n1\n',
    );
  });

  it('says of a patch which fields it sets and removes, in words', () => {
    const body = {
      metadata: {
        uid: 'u1',
        resourceVersion: '46',
        annotations: {
          'karpenter.sh/nodeclaim-termination-timestamp': '2026-11-26T13:12:29Z',
          'curfew.dev/drain-requested': null,
        },
      },
      spec: { taints: [{ key: 'a' }] },
      status: { nodes: 9, held: 0 },
    };
    const resource = { kind: 'NodeClaim' } as Parameters<typeof narrateWrite>[1]['resource'];
    let text = '';
    const timeline = createTimeline({ isTTY: false, columns: 80, write: written => void (text += written) }, () => 0);
    const ref = { type: RESOURCES.NodeClaim, name: 'default-1' };
    narrateWrite(timeline, { verb: 'patch', user: 'curfew-repair', resource, ref, body });
    expect(text.trim().replaceAll(/ +/g, ' ')).toBe(
      'repair patch NodeClaim default-1: sets karpenter.sh/nodeclaim-termination-timestamp to 2026-11-26T13:12:29Z, removes curfew.dev/drain-requested, sets spec.taints, and 2 more',
    );
  });

  it('leaves out what the forwarder and the clock publish', () => {
    expect(told({ source: 'curfew.forwarder', detailType: 'NodeChanged', detail: {} })).toBe('');
    expect(told({ source: 'aws.ec2', detailType: 'EC2 Instance State-change Notification', detail: {} })).toBe('');
  });
});
