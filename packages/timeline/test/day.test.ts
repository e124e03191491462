/** A day out of a trace: lanes, limits, the sentence. */
import { describe, expect, it } from 'vitest';
import { readDay } from '../src/day/day.ts';
import { objectAt, readObjects } from '../src/day/objects.ts';
import { sparkline } from '../src/day/sparkline.ts';
import { limitIn, valueAt } from '../src/day/strips.ts';
import { clockText, dayText, shortClock, spanText } from '../src/day/text.ts';
import { verdictText } from '../src/day/verdict.ts';
import type { TraceLine } from '../src/trace/lines.ts';
import { readTrace, UnreadableTrace } from '../src/trace/read.ts';

const START = Date.parse('2024-11-01T15:00:00.000Z');
const at = (minute: number): string => new Date(START + minute * 60_000).toISOString();
const header = { t: at(0), kind: 'trace', version: 1, source: 'simulation', name: 'day', start: at(0), end: at(120) };
const end = { t: at(120), kind: 'end', problems: [] };

const condition = (status: string, minute: number) => ({
  status: { conditions: [{ type: 'Ready', status, lastTransitionTime: at(minute) }] },
});
const node = (name: string, zone = 'a') => ({
  t: at(0),
  kind: 'object',
  group: '',
  version: 'v1',
  resource: 'nodes',
  name,
  object: {
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: { 'karpenter.sh/nodepool': 'web', 'topology.kubernetes.io/zone': zone },
    },
    spec: { providerID: `aws:///a/i-${name}` },
    ...condition('True', -60),
  },
});
const change = (name: string, minute: number, what: object) => ({
  t: at(minute),
  kind: 'object',
  group: '',
  version: 'v1',
  resource: 'nodes',
  name,
  change: what,
});
const gone = (name: string, minute: number) => ({
  t: at(minute),
  kind: 'object',
  group: '',
  version: 'v1',
  resource: 'nodes',
  name,
  gone: true,
});
const audit = (minute: number, decision: string, reason: string, details: object = {}, by = 'repair', name = 'n1') => ({
  t: at(minute),
  kind: 'audit',
  function: by,
  decision,
  reason,
  message: `${reason} said`,
  name,
  details,
  about: { kind: 'Node', name },
});
const ill = { conditionType: 'Ready', conditionStatus: 'Unknown', lastTransitionTime: at(10), dueTime: at(40) };

const lines = async (...all: object[]): Promise<readonly TraceLine[]> =>
  (await readTrace([header, ...all, end].map(each => JSON.stringify(each)))).lines;
const bars = async (...all: object[]): Promise<string[]> => {
  const [lane] = readDay(await lines(node('n1'), ...all)).lanes;
  return (lane?.bars ?? []).map(
    ({ kind, from, to, isOpen, label }) => `${kind} ${shortClock(from)} ${isOpen ? 'open' : shortClock(to)} ${label}`,
  );
};
const sentence = async (...all: object[]): Promise<string> => verdictText(readDay(await lines(...all)).verdict);

describe('the lane of a node', () => {
  it('shows an illness, its toleration, each cause of a hold, a reboot and the end', async () => {
    expect(
      await bars(
        change('n1', 10, condition('Unknown', 10)),
        audit(10, 'tolerate', 'WithinToleration', ill),
        audit(40, 'blocked', 'ZoneOutage'),
        audit(50, 'blocked', 'ConcurrencyBudget'),
        // What is said beside it holds nothing.
        audit(51, 'warn', 'TransitionTimeDoubted'),
        audit(52, 'release', 'ReplacementKept'),
        audit(55, 'repair', 'TolerationElapsed', { action: 'Reboot' }),
        audit(56, 'finishing', 'NodeClaimTerminating'),
        audit(65, 'repair', 'TolerationElapsed', { action: 'Terminate' }),
        change('n1', 65, { metadata: { deletionTimestamp: at(65) } }),
        gone('n1', 66),
      ),
    ).toEqual([
      'unhealthy 15:10 16:06 Ready=Unknown',
      'tolerated 15:10 15:40 Ready=Unknown',
      'held 15:40 15:50 ZoneOutage',
      'held 15:50 15:55 ConcurrencyBudget',
      'reboot 15:55 16:05 Reboot',
      'termination 16:05 16:06 Terminate',
    ]);
  });

  it('ends a toleration when the node recovers, and leaves open what has no end', async () => {
    expect(
      await bars(
        change('n1', 10, condition('False', 10)),
        audit(10, 'tolerate', 'WithinToleration', ill),
        change('n1', 20, condition('True', 20)),
        audit(20, 'ignore', 'Healthy'),
        audit(30, 'begin', 'DrainStarted', {}, 'drain'),
      ),
    ).toEqual(['unhealthy 15:10 15:20 Ready=False', 'tolerated 15:10 15:20 Ready=Unknown', 'drain 15:30 open Drain']);
  });

  it('is another one when a name is used again', async () => {
    const day = readDay(await lines(node('n1'), gone('n1', 30), { ...node('n1'), t: at(40) }));
    expect(
      day.lanes.map(({ name, from, end: over }) => [name, shortClock(from), over && shortClock(over.time)]),
    ).toEqual([
      ['n1', '15:00', '15:30'],
      ['n1', '15:40', undefined],
    ]);
  });

  it('comes out of an audit log alone, which has no objects', async () => {
    const log = [audit(10, 'tolerate', 'WithinToleration', ill), audit(20, 'recovered', 'Recovered')];
    const read = await readTrace(log.map(each => JSON.stringify(each)));
    const [lane] = readDay(read.lines).lanes;
    expect(lane?.bars.map(({ kind }) => kind)).toEqual(['unhealthy', 'tolerated']);
  });
});

describe('the hooks of a node', () => {
  const call = (minute: number) => ({
    t: at(minute),
    kind: 'write',
    by: 'finalizer',
    verb: 'invoke',
    resource: 'hooks',
    name: 'backup',
    about: { kind: 'Node', name: 'n1' },
  });
  const answer = (minute: number, decision: string, reason: string) =>
    audit(minute, decision, reason, { hook: 'backup' }, 'finalizer');
  const begun = [
    node('n1'),
    change('n1', 10, { metadata: { deletionTimestamp: at(10) } }),
    call(10),
    answer(10, 'hook', 'TerminationHookFailed'),
    audit(10, 'wait', 'Waiting', {}, 'finalizer'),
    call(12),
    answer(12, 'hook', 'TerminationHookFailed'),
  ];
  const hooksOf = async (...all: object[]): Promise<string[]> => {
    const [lane] = readDay(await lines(...begun, ...all)).lanes;
    return (lane?.hooks ?? []).map(
      ({ from, to, isOpen, result }) => `${shortClock(from)} ${isOpen ? 'open' : shortClock(to)} ${result}`,
    );
  };

  it('have a row each, whose calls may fail before one succeeds, or none does in time', async () => {
    expect(await hooksOf()).toEqual(['15:10 15:12 failed']);
    expect(await hooksOf(call(15), answer(15, 'hook', 'HookSucceeded'))).toEqual(['15:10 15:15 succeeded']);
    expect(await hooksOf(answer(20, 'hookTimedOut', 'TerminationHookFailed'))).toEqual(['15:10 15:20 timed out']);
  });

  it('are called by an invocation or by a custom resource of their own, and one that cannot be called fails', async () => {
    const resource = {
      t: at(14),
      kind: 'write',
      by: 'finalizer',
      verb: 'create',
      resource: 'nodefixes',
      name: 'dereg-1',
      body: { metadata: { name: 'dereg-1', annotations: { 'curfew.dev/termination-hook': 'uid-n1/dereg' } } },
    };
    const succeeded = audit(16, 'hook', 'HookSucceeded', { hook: 'dereg' }, 'finalizer');
    const timedOut = audit(20, 'hookTimedOut', 'TerminationHookFailed', { hook: 'dereg' }, 'finalizer');
    expect(await hooksOf(resource)).toEqual(['15:10 15:12 failed', '15:14 open running']);
    expect(await hooksOf(resource, succeeded)).toEqual(['15:10 15:12 failed', '15:14 15:16 succeeded']);
    expect(await hooksOf(resource, timedOut)).toEqual(['15:10 15:12 failed', '15:14 15:20 timed out']);
    const notCalled = audit(13, 'hook', 'TerminationHookFailed', { hook: 'dereg' }, 'finalizer');
    expect(await hooksOf(notCalled, resource, timedOut)).toEqual(['15:10 15:12 failed', '15:13 15:20 timed out']);
    const day = readDay(await lines(...begun, resource, timedOut));
    expect(day.badges.map(({ title, detail }) => `${title}: ${detail}`)).toContain('Hook timed out: dereg on n1');
  });

  it('are waited for until one succeeds, however often it failed', async () => {
    const [lane] = readDay(await lines(...begun, call(15), answer(15, 'hook', 'HookSucceeded'))).lanes;
    expect(lane?.waits.map(({ from, to }) => [shortClock(from), shortClock(to)])).toEqual([['15:10', '15:15']]);
  });
});

describe('the verdict', () => {
  it('counts what ended, and why', async () => {
    const repaired = [
      audit(40, 'repair', 'TolerationElapsed', { action: 'Terminate', protectedPods: ['a/b', 'a/c'] }),
      gone('n1', 41),
    ];
    expect(await sentence(node('n1'), node('n2'), ...repaired, gone('n2', 50))).toBe(
      '2 h, 2 nodes: 1 terminated by repair; 1 gone by others; 2 protected pods taken',
    );
  });

  it('says that nothing happened, and that repair is off', async () => {
    expect(await sentence(node('n1'))).toBe('2 h, 1 node: nothing happened');
    const off = { t: at(0), kind: 'rules', pool: 'web', mode: 'Enforce', gateOpen: false };
    expect(await sentence(node('n1'), off, change('n1', 10, condition('False', 10)))).toBe(
      '2 h, 1 node: 1 unhealthy, and repair is off (featureGates.nodeRepair)',
    );
  });

  it('counts the nodes that are still being terminated at the end', async () => {
    const deleted = change('n1', 10, { metadata: { deletionTimestamp: at(10) } });
    expect(await sentence(node('n1'), deleted)).toBe('2 h, 1 node: 1 still being terminated at the end');
    expect(await sentence(node('n1'), deleted, gone('n1', 20))).toBe('2 h, 1 node: 1 gone by others');
  });

  it('says no more than it knows of a day with writes that are about no end of a node', async () => {
    const freed = { t: at(5), kind: 'write', by: 'finalizer', verb: 'patch', resource: 'databases', name: 'd1' };
    expect(await sentence(freed)).toBe('2 h, 0 nodes: no node was repaired, drained or terminated');
  });
});

describe('strips, letters and words', () => {
  it('count the unhealthy against a limit, which moves with the size of the pool', async () => {
    const rules = { t: at(0), kind: 'rules', pool: 'web', mode: 'Enforce', gateOpen: true, maxUnhealthy: '50%' };
    const day = readDay(
      await lines(rules, node('n1'), node('n2'), node('n3'), change('n1', 10, condition('False', 10)), gone('n2', 30)),
    );
    const [strip] = day.strips;
    expect(strip?.limitText).toBe('maxUnhealthy 50%');
    expect(
      [0, 20, 40].map(
        minute =>
          strip && [valueAt(strip.count, START + minute * 60_000), valueAt(strip.limit, START + minute * 60_000)],
      ),
    ).toEqual([
      [0, 2],
      [1, 2],
      [1, 1],
    ]);
    expect([limitIn('20%', 15), limitIn('2', 9), limitIn('none', 9)]).toEqual([3, 2, undefined]);
  });

  it('draw a lane in letters', async () => {
    const day = readDay(await lines(node('n1'), audit(60, 'blocked', 'ZoneOutage'), gone('n1', 90)));
    expect(day.lanes.map(lane => sparkline(lane, day, 12))).toEqual(['······HHH×  ']);
  });

  it('write spans and instants', () => {
    expect([90_000, 3_300_000, 17 * 3_600_000, 9_000_000, 5000].map(spanText)).toEqual([
      '1 min 30 s',
      '55 min',
      '17 h',
      '2 h 30 min',
      '5 s',
    ]);
    expect([clockText(START), shortClock(START), shortClock(START + 5000), dayText(START)]).toEqual([
      '15:00:00',
      '15:00',
      '15:00:05',
      'Fri 1 Nov',
    ]);
  });

  it('know how an object was at an instant', async () => {
    const histories =
      readObjects(await lines(node('n1'), change('n1', 10, condition('False', 10)), gone('n1', 30))).get('/nodes') ??
      [];
    const status = (minute: number): unknown => {
      const object = histories[0] && objectAt(histories[0], START + minute * 60_000);
      return object?.['status'];
    };
    expect([status(9), status(10), status(30)]).toEqual([
      condition('True', -60).status,
      condition('False', 10).status,
      undefined,
    ]);
    await expect(readTrace([])).rejects.toBeInstanceOf(UnreadableTrace);
  });
});
