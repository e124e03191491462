import { describe, expect, it } from 'vitest';
import { evaluate, type FinalState } from '../../simulator/expect.ts';
import type { TraceEntry } from '../../simulator/trace.ts';
import { addDuration, minutes, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import { scenario } from './simulate.ts';

const START = scenario('').start;
const NOTHING: FinalState = { object: () => undefined, instance: () => undefined };

function entry(minute: number, line: TraceEntry['line'], group = ''): TraceEntry {
  const time: EpochMs = addDuration(START, minutes(minute));
  const kind = line['verb'] !== undefined ? 'write' : line['function'] !== undefined ? 'audit' : 'event';
  return { time, kind, group, line: { t: toIsoText(time), kind, ...line } };
}

const DELETE_AT_10 = entry(10, { by: 'repair', verb: 'delete', resource: 'nodeclaims', name: 'a' }, 'karpenter.sh');
const PATCH_AT_20 = entry(20, { by: 'repair', verb: 'patch', resource: 'nodes', name: 'b', body: { spec: { x: 1 } } });

function check(expectation: string, entries: readonly TraceEntry[] = [DELETE_AT_10, PATCH_AT_20], final = NOTHING) {
  const [verdict] = evaluate(scenario(`  expect:\n    - ${expectation}\n`).expectations, entries, final);
  if (verdict === undefined) throw new Error('no verdict');
  return verdict;
}

describe('an expectation about the trace', () => {
  it.each([
    ['{ write: { verb: delete } }', true],
    ['{ write: { verb: delete, name: b } }', false],
    ['{ write: {}, times: 2 }', true],
    ['{ write: {}, times: 1 }', false],
    ['{ write: {}, times: { max: 1 } }', false],
    ['{ write: { verb: evict }, times: 0 }', true],
    ['{ at: 10m, write: { verb: delete } }', true],
    ['{ at: 9m59s, write: { verb: delete } }', true],
    ['{ at: 9m58s, write: { verb: delete } }', false],
    ['{ at: 9m, within: 1m, write: { verb: delete } }', true],
    ['{ at: 10m1ms, write: { verb: delete } }', false],
    ['{ before: 10m, write: { verb: delete }, times: 0 }', true],
    ['{ before: 10m1ms, write: { verb: delete } }', true],
    ['{ after: 10m, write: { verb: delete } }', true],
    ['{ after: 10m1ms, write: { verb: delete }, times: 0 }', true],
    ['{ after: 10m, before: 20m, write: {}, times: 1 }', true],
    ['{ write: { resource: nodeclaims.karpenter.sh } }', true],
    ['{ write: { resource: nodes, body: { spec: { x: 1 } } } }', true],
    ['{ write: { resource: nodes, absent: [body.spec.y] } }', true],
    ['{ write: { resource: nodes, absent: [body.spec.x] } }', false],
    ['{ event: { reason: DrainHeld }, times: 0 }', true],
  ])('%s is %s', (expectation, holds) => {
    expect(check(expectation).holds).toBe(holds);
  });

  it('takes kind, namespace and name of an event for the object that it is about', () => {
    const event = entry(1, {
      type: 'Warning',
      reason: 'DrainHeld',
      message: 'm',
      about: { kind: 'Pod', namespace: 'prod', name: 'web' },
    });
    expect(check('{ event: { reason: DrainHeld, kind: Pod, namespace: prod, name: web } }', [event]).holds).toBe(true);
    expect(check('{ event: { reason: DrainHeld, kind: Node } }', [event]).holds).toBe(false);
  });

  it('finds the kind of an audit record beside its own fields', () => {
    const audit = entry(1, {
      function: 'repair',
      decision: 'blocked',
      name: 'n1',
      about: { kind: 'Node', name: 'n1' },
      details: { n: 1 },
    });
    expect(check('{ audit: { function: repair, kind: Node, name: n1, details: { n: 1 } } }', [audit]).holds).toBe(true);
    expect(check('{ audit: { function: repair, kind: Pod } }', [audit]).holds).toBe(false);
  });

  it('says what came nearest when nothing matches', () => {
    const { seen } = check('{ write: { verb: delete, resource: nodeclaims, name: b } }');
    expect(seen[0]).toBe('found none');
    expect(seen.at(-1)).toMatch(/"name":"a".*\(name is "a", not "b"\)/);
  });

  it('says what lies outside of the window', () => {
    const { seen } = check('{ before: 5m, write: { verb: delete } }');
    expect(seen).toEqual([
      expect.stringMatching(/outside of that time there are 1/),
      expect.stringContaining('15:10:00'),
    ]);
  });

  it('shows the first of too many', () => {
    const many = Array.from({ length: 5 }, (_, minute) => entry(minute, { verb: 'delete', name: 'x' }));
    expect(check('{ write: {}, times: 0 }', many).seen).toEqual([
      'found 5:',
      ...Array.from({ length: 3 }, () => expect.any(String)),
      'and 2 more',
    ]);
  });
});

describe('an expectation about the end', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: 'x', annotations: { 'a/b': 'c' } },
  };
  const final: FinalState = { object: () => object, instance: () => 'running' };

  it.each([
    ['{ final: { resource: nodes, name: n } }', true],
    ['{ final: { resource: nodes, name: n, exists: false } }', false],
    ['{ final: { resource: nodes, name: n, match: { metadata: { annotations: { a/b: c } } } } }', true],
    ['{ final: { resource: nodes, name: n, match: { metadata: { annotations: { a/b: d } } } } }', false],
    [`{ final: { resource: nodes, name: n, absent: ['metadata.annotations["a/b"]'] } }`, false],
    [`{ final: { resource: nodes, name: n, absent: ['metadata.annotations["a/c"]'] } }`, true],
    ['{ final: { instance: i, state: running } }', true],
    ['{ final: { instance: i, state: terminated } }', false],
  ])('%s is %s', (expectation, holds) => {
    expect(check(expectation, [], final).holds).toBe(holds);
  });

  it.each([
    ['{ final: { resource: nodes, name: n } }', false],
    ['{ final: { resource: nodes, name: n, exists: false } }', true],
    ['{ final: { instance: i, state: terminated } }', false],
  ])('%s of nothing is %s', (expectation, holds) => {
    expect(check(expectation, [], NOTHING).holds).toBe(holds);
  });
});
