/** A day out of audit logs, as CloudWatch exports them, and what other policies would have made of it. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { historyOf, linesOf } from '../../cli/audit/history.ts';
import { runHere } from './run-curfew.ts';

const at = (minute: number): string => new Date(Date.parse('2024-11-01T15:00:00Z') + minute * 60_000).toISOString();
const ill = {
  nodePool: 'web',
  conditionType: 'Ready',
  conditionStatus: 'False',
  lastTransitionTime: at(1),
  dueTime: at(31),
};
const line = (minute: number, decision: string, reason: string, details: object, name = 'web-0') => ({
  level: 'INFO',
  message: `${reason} of ${name}`,
  timestamp: at(minute),
  service: 'repair',
  audit: true,
  function: 'repair',
  decision,
  reason,
  kind: 'Node',
  name,
  details,
});
const wrapped = (value: object): object => ({ timestamp: 1, logStreamName: 's', message: JSON.stringify(value) });
const LOG = [
  'START RequestId: 1 Version: 2',
  line(1, 'tolerate', 'WithinToleration', ill),
  wrapped(line(31, 'repair', 'TolerationElapsed', { ...ill, action: 'Terminate' })),
  { level: 'WARN', message: 'something else' },
  { '@timestamp': at(32), '@message': JSON.stringify(line(32, 'close', 'NodeGone', {})) },
  line(60, 'tolerate', 'WithinToleration', { ...ill, lastTransitionTime: at(60), dueTime: at(90) }, 'web-1'),
  line(70, 'ignore', 'Healthy', { nodePool: 'web' }, 'web-1'),
  line(80, 'ignore', 'Healthy', { nodePool: 'web' }, 'web-2'),
];
const POLICY = `apiVersion: curfew.dev/v1alpha1
kind: NodeLifecyclePolicy
metadata: { name: web }
spec: { nodePoolSelector: {}, mode: Enforce, repair: { defaultTolerationDuration: 5m, maxUnhealthy: 100% } }
`;

let folder = '';
const file = (name: string): string => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-audit-'));
  writeFileSync(
    file('log.jsonl'),
    LOG.map(each => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n'),
  );
  writeFileSync(file('policy.yaml'), POLICY);
  writeFileSync(file('other.txt'), 'hello\nworld\n');
  // A file with a hole takes no room on the disk.
  writeFileSync(file('huge.jsonl'), '');
  truncateSync(file('huge.jsonl'), 100_000_000);
});
afterAll(() => rmSync(folder, { recursive: true }));

it('reads lines bare and wrapped, counts those of others, and says what the day came to', async () => {
  const { code, stdout, stderr } = await runHere(['audit', '--from-audit', file('log.jsonl')]);
  expect(code).toBe(0);
  expect(stderr).toBe('2 lines of log.jsonl left out, the first is line 1: it is no JSON\n');
  expect(stdout.split('\n')[0]).toBe('1 h 19 min, 3 nodes: 1 terminated by repair');
});

it('narrows it down to a node, and to the last part', async () => {
  const one = await runHere(['audit', '--from-audit', file('log.jsonl'), '--node', 'web-1']);
  expect(one.stdout.split('\n')[0]).toBe('10 min, 1 node: 1 node unhealthy, nothing had to be done');
  const last = await runHere(['audit', '--from-audit', file('log.jsonl'), '--since', '15m', '--output', 'jsonl']);
  expect(
    last.stdout
      .trim()
      .split('\n')
      .map(each => (JSON.parse(each) as { kind: string; name: string }).name),
  ).toEqual(['log.jsonl', 'web-1', 'web-2']);
});

it('replays it under other policies', async () => {
  const { code, stdout, stderr } = await runHere([
    'audit',
    '--from-audit',
    file('log.jsonl'),
    '--policies',
    file('policy.yaml'),
  ]);
  expect(code).toBe(0);
  expect(stderr.split('\n').slice(1)).toEqual([
    '3 nodes are replayed without pods: the history names none on them',
    'the history names no policy: only those that were given are in force',
    '',
  ]);
  // web-1 was ill for ten minutes only: five are enough for this policy.
  expect(stdout.split('\n')[0]).toContain('as it was → ');
  expect(stdout.split('\n')[0]).toContain(': 1 more terminated by repair');
  expect(stdout).toMatch(/web-1 +nothing was done +Terminate 16:05:00 to 16:05:05, terminated by repair/);
});

it('replays pods, budgets, policies, drains and deletions too: under its own policies a day is the same again', async () => {
  const { stdout: trace } = await runHere(['simulate', 'examples/scenarios/bad-day.yaml', '--output', 'jsonl']);
  writeFileSync(file('day.jsonl'), trace);
  const own = 'examples/scenarios/bad-day/policies.yaml';
  const { code, stdout, stderr } = await runHere(['audit', '--from-audit', file('day.jsonl'), '--policies', own]);
  expect([code, stderr]).toEqual([
    0,
    '2 steps of the cloud, of hooks and of events are not replayed, but for the drains that began\n',
  ]);
  // The event that asked for it named a template of its own.
  expect(stdout.split('\n')[0]).toBe(`as it was → ${own}: 1 more drained, 1 fewer drains without end`);
  expect(stdout).toMatch(/^ {2}gpu-3 +Drain 22:00:00 to the end +Drain 22:00:00 to 23:00:00$/m);
  const patient = readFileSync(own, 'utf8').replace('defaultTolerationDuration: 30m', 'defaultTolerationDuration: 2h');
  writeFileSync(file('patient.yaml'), patient);
  const later = await runHere(['audit', '--from-audit', file('day.jsonl'), '--policies', file('patient.yaml')]);
  expect(later.stdout.split('\n')[0]).toContain('1 fewer protected pods taken');
});

it.each([
  [['audit', '--from-audit', 'other.txt'], 'no line of a trace or an audit log: line 1: it is no JSON'],
  [
    ['audit', '--from-audit', 'huge.jsonl'],
    'huge.jsonl has 100 MB, and a page takes 64 MB: give a shorter time with --since, or one node with --node',
  ],
  [['audit', '--from-audit', 'none.jsonl'], 'none.jsonl does not exist'],
  [['audit', '--from-audit', 'log.jsonl', '--since', 'today'], '--since takes a Go duration'],
])('exits 2 for %j, and says what is wrong', async (args, message) => {
  const { code, stderr } = await runHere(args.map(each => (/\.(txt|jsonl)$/.test(each) ? file(each) : each)));
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

it('reads a line without an end as far as a line may be, and no further', async () => {
  const part = 'x'.repeat(1000);
  const parts = async function* (): AsyncGenerator<string> {
    yield 'a\nb';
    for (let index = 0; index < 100; index += 1) yield part;
    yield '\nc';
  };
  const lines: string[] = [];
  for await (const line of linesOf(parts(), 5000)) lines.push(line);
  expect(lines.map(({ length }) => length)).toEqual([1, 5000, 1]);
});

it('keeps no more than a page takes: of a longer log the last part, or a sentence', async () => {
  const minutesOf = async function* (): AsyncGenerator<string> {
    for (let minute = 0; minute < 1000; minute += 1) yield JSON.stringify(line(minute, 'ignore', 'Healthy', {}));
  };
  const longest = JSON.stringify(line(0, 'ignore', 'Healthy', {})).length * 100;
  await expect(historyOf(minutesOf(), 'log', { longest })).rejects.toThrow(
    `log: its lines have more than ${longest / 1e6} MB, which is the most that a page takes: give a shorter time`,
  );
  const { lines } = await historyOf(minutesOf(), 'log', { longest, span: 10 * 60_000 });
  expect(lines.map(({ t }) => t)).toEqual([at(989), ...Array.from({ length: 11 }, (_, index) => at(989 + index))]);
});
