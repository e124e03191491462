/** `curfew audit` on the logs of a deployment: found by the stack's outputs, read page by page, followed, refused as AWS refuses. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { auditCommand, type AuditOptions } from '../../cli/audit.ts';
import { clientConfigFile, clientEnvironment } from '../../packages/local-aws/src/client-environment.ts';
import { startCloudFormation } from '../../packages/local-aws/src/cloudformation.ts';
import type { HttpServer } from '../../packages/local-aws/src/loopback.ts';
import { FAKE_CREDENTIALS } from '../../packages/local-aws/src/fake-credentials.ts';
import { startLogs, type LocalLogs } from '../../packages/local-aws/src/logs.ts';
import { operationOutputId } from '../../shared/contract/operation-outputs.ts';
import { hours, minutes, seconds, toEpochMs, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import type { Clock } from '../../shared/ports/clock.ts';

const START = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const GROUPS = ['Curfew-Repair', 'Curfew-Drain'] as const;
const PAGE = 2;
let now: EpochMs = START;
let logs: LocalLogs;
let cloudFormation: HttpServer;

const outputs = {
  [operationOutputId('repair', 'LogGroup')]: GROUPS[0],
  [operationOutputId('drain', 'LogGroup')]: GROUPS[1],
};

beforeAll(async () => {
  const stacks = [
    { name: 'Curfew', outputs },
    { name: 'Older', outputs: { EventBusName: 'bus' } },
    { name: 'Halved', outputs: { ...outputs, [operationOutputId('timer', 'LogGroup')]: 'Curfew-Timer' } },
  ];
  cloudFormation = await startCloudFormation({ model: { region: 'us-east-1', account: '000000000000', stacks } });
});
afterAll(() => cloudFormation.stop());
beforeEach(async () => {
  now = START;
  logs = await startLogs({ groups: GROUPS, clock: { now: () => now }, pageSize: PAGE });
  const nowhere = 'http://127.0.0.1:9';
  const env = clientEnvironment(
    'us-east-1',
    {
      dynamoDb: nowhere,
      sqs: nowhere,
      eventBridge: nowhere,
      ec2: nowhere,
      lambda: nowhere,
      logs: logs.endpoint,
      cloudFormation: cloudFormation.endpoint,
    },
    FAKE_CREDENTIALS,
  );
  for (const [name, value] of Object.entries({ ...env, AWS_MAX_ATTEMPTS: '1' })) vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await logs.stop();
});

/** A line of a function as it is in its log group. */
function decide(group: (typeof GROUPS)[number], name: string, decision: string, message: string): void {
  const by = group === 'Curfew-Repair' ? 'repair' : 'drain';
  const line = { audit: true, function: by, decision, reason: 'Because', message, kind: 'Node', name };
  logs.add(group, JSON.stringify({ level: 'INFO', timestamp: toIsoText(now), service: by, ...line }));
}
const say = (text: string): void => logs.add('Curfew-Repair', text);
const pass = (ms: number): void => void (now = toEpochMs(now + ms));

async function audit(options: Partial<AuditOptions> = {}, sleep: Clock['sleep'] = () => Promise.reject(new Error())) {
  let [stdout, stderr] = ['', ''];
  const interruption = new AbortController();
  const code = await auditCommand(
    { stack: 'Curfew', output: 'text', ...options },
    { out: text => void (stdout += text), error: text => void (stderr += text) },
    {
      interrupted: interruption.signal,
      clock: {
        now: () => now,
        sleep: (duration, signal) => sleep(duration, signal).catch(() => interruption.abort()),
      },
    },
  );
  return { code, stdout, stderr };
}
const messagesOf = (jsonl: string): readonly unknown[] =>
  jsonl
    .trim()
    .split('\n')
    .map(text => JSON.parse(text) as { kind: string; message?: string })
    .filter(({ kind }) => kind === 'audit')
    .map(({ message }) => message);

describe('curfew audit of a deployment', () => {
  it('reads all pages of all functions, also behind a page without a line, in the order of time', async () => {
    decide('Curfew-Repair', 'n1', 'tolerate', 'first');
    // Two pages of lines that are none.
    for (let line = 0; line < 2 * PAGE; line += 1) say('START RequestId: 1');
    pass(minutes(2));
    decide('Curfew-Repair', 'n1', 'repair', 'third');
    now = toEpochMs(START + minutes(1));
    decide('Curfew-Drain', 'n1', 'begin', 'second');
    now = toEpochMs(START + minutes(3));
    decide('Curfew-Repair', 'n2', 'ignore', 'fourth');
    const { code, stdout, stderr } = await audit({ output: 'jsonl' });
    expect([code, stderr]).toEqual([0, '']);
    expect(messagesOf(stdout)).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('asks for the last 24 hours alone, or for as much as is said', async () => {
    decide('Curfew-Repair', 'n1', 'tolerate', 'old');
    pass(hours(23));
    decide('Curfew-Repair', 'n1', 'ignore', 'new');
    pass(hours(2));
    expect(messagesOf((await audit({ output: 'jsonl' })).stdout)).toEqual(['new']);
    expect(messagesOf((await audit({ output: 'jsonl', since: '30h' })).stdout)).toEqual(['old', 'new']);
  });

  it('prints each decision about a node', async () => {
    decide('Curfew-Repair', 'n1', 'tolerate', 'Ready=False is tolerated\u001b[2J');
    decide('Curfew-Repair', 'n2', 'tolerate', 'another');
    const { stdout } = await audit({ node: 'n1' });
    expect(stdout).toContain(
      '2024-11-01T15:00:00.000Z  repair        tolerate    Node/n1: Ready=False is tolerated\\u001b[2J (Because)\n',
    );
    expect(stdout).not.toContain('another');
  });

  it('says where there are decisions, and none about that node', async () => {
    decide('Curfew-Repair', 'n1', 'tolerate', 'x');
    expect(await audit({ node: 'n2' })).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'the log of Curfew: none of its lines (1) is about n2: give the name that kubectl get nodes prints, or a longer --since\n',
    });
  });

  it('makes a page of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-audit-'));
    decide('Curfew-Repair', 'n1', 'tolerate', 'x');
    const html = join(folder, 'day.html');
    expect(await audit({ html })).toMatchObject({ code: 0, stderr: `the page is ${html}\n` });
    expect(readFileSync(html, 'utf8')).toMatch(/^<!doctype html>/);
    rmSync(folder, { recursive: true });
  });

  it('follows: each line once, also one that comes late or in the same millisecond', async () => {
    decide('Curfew-Repair', 'n1', 'tolerate', 'before');
    pass(minutes(5));
    const steps = [
      () => decide('Curfew-Repair', 'n1', 'repair', 'one'),
      () => decide('Curfew-Drain', 'n2', 'begin', 'two'),
      () => {
        pass(minutes(2));
        decide('Curfew-Repair', 'n1', 'close', 'three');
        // Its time is before that of the last.
        now = toEpochMs(now - seconds(30));
        decide('Curfew-Drain', 'n1', 'end', 'late');
        pass(seconds(30));
      },
      () => undefined,
    ];
    const { code, stdout } = await audit({ follow: true }, () => {
      const step = steps.shift();
      if (step === undefined) return Promise.reject(new Error('Ctrl-C'));
      step();
      return Promise.resolve();
    });
    expect(code).toBe(0);
    expect(stdout.match(/(?<=Node\/n\d: )\w+/g)).toEqual(['one', 'two', 'late', 'three']);
  });

  it('follows one node from when it is told', async () => {
    decide('Curfew-Repair', 'n1', 'tolerate', 'old');
    pass(minutes(5));
    decide('Curfew-Repair', 'n1', 'tolerate', 'one');
    decide('Curfew-Repair', 'n2', 'tolerate', 'another');
    pass(minutes(1));
    const { stdout } = await audit({ follow: true, node: 'n1', since: '2m', output: 'jsonl' });
    expect(messagesOf(stdout)).toEqual(['one']);
  });

  it.each([
    ['ThrottlingException', 'Rate exceeded', ': run it again, with a shorter --since, or with AWS_MAX_ATTEMPTS=10'],
    [
      'AccessDeniedException',
      'User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: logs:FilterLogEvents',
      ': have logs:FilterLogEvents on this log group granted to you',
    ],
    ['ServiceUnavailableException', 'The service cannot complete the request.', ''],
  ])('says %s in one sentence', async (code, message, advice) => {
    logs.fail({ code, message });
    for (const follow of [false, true])
      expect(await audit({ follow })).toEqual({
        code: 2,
        stdout: '',
        stderr: `reading the log of drain: ${code}: ${message}${advice}\n`,
      });
  });

  it.each([
    [{ stack: 'None' }, 'reading the stack None: ValidationError: Stack with id None does not exist'],
    [{ stack: 'Older' }, 'the stack Older has no log groups of Curfew in its outputs'],
    [
      { stack: 'Halved' },
      'reading the log of timer: ResourceNotFoundException: The specified log group does not exist.',
    ],
    [{}, 'the log of Curfew: this holds no line of a trace or an audit log: it is empty'],
    [{ since: 'yesterday' }, '--since takes a Go duration, as 24h'],
    [{ follow: true, html: 'x.html' }, '--follow prints lines as they come'],
    [{ follow: true, fromAudit: 'x' }, '--follow prints lines as they come'],
  ])('refuses %j', async (options, message) => {
    expect(await audit(options)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('finds the local endpoints by one file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-audit-'));
    const file = join(folder, 'config');
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('AWS_')));
    const { writeFileSync } = await import('node:fs');
    writeFileSync(file, clientConfigFile(env as Record<string, string>));
    vi.unstubAllEnvs();
    for (const name of Object.keys(env)) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', file);
    decide('Curfew-Repair', 'n1', 'tolerate', 'x');
    expect(await audit({ output: 'jsonl' })).toMatchObject({ code: 0, stdout: expect.stringContaining('"x"') });
    rmSync(folder, { recursive: true });
  });
});
