import { describe, expect, it } from 'vitest';
import { notesOf } from '../../simulator/never-there.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import type { TraceEntry } from '../../simulator/trace.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { SCENARIO_HEAD, scenarioOf } from '../builders/scenario.ts';

const catalog = clusterCatalog();
const HEAD = `${SCENARIO_HEAD}  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: node-1 } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: web-0 } }
`;

/** `line: message` of every note. The head has 9 lines. */
function notes(rest: string, trace: readonly TraceEntry[] = []): readonly string[] {
  return notesOf(scenarioOf(HEAD + rest), trace, catalog).map(({ place, message }) => `${place.line}: ${message}`);
}

describe('a step', () => {
  it.each([
    ['delete: { resource: nodes, name: nod-1 }', ['11: nodes nod-1 never existed, did you mean node-1?']],
    ['delete: { resource: pods, name: web-0 }', ['11: pods web-0 never existed, did you mean prod/web-0?']],
    ['patch: { resource: nodes, name: other, merge: {} }', ['11: nodes other never existed']],
    ['patch: { resource: nodes, name: node-1, merge: {} }', []],
    ['delete: { resource: pods, namespace: prod, name: web-0 }', []],
    ['patch: { resource: configmaps, namespace: curfew, name: curfew-config, merge: {} }', []],
  ])('%s', (text, expected) => {
    expect(notes(`  steps:\n    - { at: 1m, ${text} }\n`)).toEqual(expected);
  });

  it('on what a step before it made', () => {
    const apply = 'apply: { apiVersion: v1, kind: Node, metadata: { name: n2 } }';
    expect(
      notes(`  steps:\n    - { at: 1m, ${apply} }\n    - { at: 2m, delete: { resource: nodes, name: n2 } }\n`),
    ).toEqual([]);
  });

  it.each([
    ['write', 'repair'],
    ['actor', 'karpenter'],
  ] as const)('on what the run made, as its %s line says', (kind, by) => {
    const made: TraceEntry = {
      time: toEpochMs(0),
      kind,
      group: '',
      line: { by, verb: 'create', resource: 'nodes', name: 'n2' },
    };
    expect(notes('  steps:\n    - { at: 1m, delete: { resource: nodes, name: n2 } }\n', [made])).toEqual([]);
  });
});

describe('an expectation', () => {
  it.each([
    ['final: { resource: nodes, name: nod-1, exists: false }', ['11: nodes nod-1 never existed, did you mean node-1?']],
    ['final: { resource: pods, name: web-0 }', ['11: pods web-0 never existed, did you mean prod/web-0?']],
    ['final: { resource: nodes, name: other, exists: false }', []],
    [
      'write: { verb: delete, resource: nodes, name: node1 }, times: 0',
      ['11: node1 never existed, did you mean node-1?'],
    ],
    ['write: { verb: delete, resource: nodes, name: node1 }', []],
    ['write: { verb: delete, name: web-0 }, times: 0', []],
    [
      'event: { kind: Pod, namespace: stage, name: web-0 }, times: 0',
      ['11: stage/web-0 never existed, did you mean prod/web-0?'],
    ],
    ['audit: { function: repair, name: nod-1 }, times: 0', ['11: nod-1 never existed, did you mean node-1?']],
    ['audit: { function: repair, name: node-1 }, times: 0', []],
  ])('%s', (text, expected) => {
    expect(notes(`  expect:\n    - { ${text} }\n`)).toEqual(expected);
  });
});

describe('an expectation that cannot fail', () => {
  const outside = /^11: its window is outside of the run, .*: it can never fail$/;
  it.each<[string, RegExp | undefined]>([
    ['after: 5h, write: { verb: delete }, times: 0', outside],
    ['before: 0s, write: { verb: delete }, times: { max: 3 }', outside],
    ['at: 5h, audit: { function: repair }, times: 0', outside],
    ['write: { verb: delete }, times: { min: 0 }', /^11: can never fail: give a `max`/],
    ['after: 2h, write: { verb: delete }, times: 0', undefined],
    ['before: 1ms, write: { verb: delete }, times: 0', undefined],
    ['at: 5h, write: { verb: delete }', undefined],
    ['event: { reason: InvalidNodeLifecyclePolicy }, times: { min: 0 }', undefined],
    ['after: 5h, audit: { decision: refuse }, times: { max: 3 }', undefined],
  ])('%s', (text, note) => {
    expect(notes(`  expect:\n    - { ${text} }\n`)).toEqual(note === undefined ? [] : [expect.stringMatching(note)]);
  });
});
