/** Each way in which a field can be wrong, with the line and message that its author reads; the command ends with 2 for each. */
import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import { SCENARIO_HEAD } from '../../builders/scenario.ts';

const catalog = clusterCatalog();

/** `line path: message` of every fault; the head has 6 lines. */
function faults(text: string): string[] {
  const parsed = parseScenarios(text, 'f.yaml', catalog);
  return parsed.ok ? [] : parsed.faults.map(({ place, message }) => `${place.line} ${place.path}: ${message}`);
}

type Row = readonly [why: string, value: string, faults: readonly string[]];

/** The fields of a step, all at line 8. */
function ofStep(name: string, rows: readonly Row[]): void {
  describe(`the step ${name} is refused for`, () => {
    it.each(rows)('%s', (_, value, expected) => {
      const found = faults(`${SCENARIO_HEAD}  steps:\n    - { at: 1m, ${name}: ${value} }\n`);
      const at = `8 spec.steps[0].${name}`;
      expect(found).toEqual(expected.map(each => `${at}${each}`));
    });
  });
}

ofStep('refuse', [
  ['neither verb nor resource', '{ name: n1, status: 500 }', [': must have `verb` or `resource`']],
  ['neither status nor notServed', '{ verb: get }', [': must have exactly one of status, notServed; has none']],
  [
    'both status and notServed',
    '{ resource: nodes, status: 404, notServed: true }',
    [': must have exactly one of status, notServed; has status and notServed'],
  ],
  ['notServed that is not true', '{ resource: nodes, notServed: false }', ['.notServed: must be true, not false']],
  [
    'a verb that no request has',
    '{ verb: remove, status: 500 }',
    ['.verb: must be one of get, list, watch, create, update, patch, delete, evict, not "remove"'],
  ],
  [
    'a verb that is misspelt',
    '{ verb: pacth, status: 500 }',
    [
      '.verb: must be one of get, list, watch, create, update, patch, delete, evict, not "pacth", did you mean "patch"?',
    ],
  ],
  [
    'a verb that is no text',
    '{ verb: [get], status: 500 }',
    ['.verb: must be one of get, list, watch, create, update, patch, delete, evict, not ["get"]'],
  ],
  [
    'a kind in place of the plural',
    '{ resource: Node, status: 500 }',
    ['.resource: the cluster serves no resource "Node", did you mean "nodes"?'],
  ],
  [
    'a resource of another group',
    '{ resource: nodeclaims.example.com, status: 500 }',
    [
      '.resource: the cluster serves no resource "nodeclaims.example.com"; it must be a plural such as "nodes", with ".group" where two share it',
    ],
  ],
  ['an empty resource', '{ resource: "", status: 500 }', ['.resource: must not be empty']],
  ['a namespace of what has none', '{ resource: nodes, namespace: prod, status: 500 }', [': nodes have no namespace']],
  [
    'an eviction of no pod',
    '{ verb: evict, resource: nodes, status: 500 }',
    [': nothing evicts nodes: only pods are evicted'],
  ],
  ['a name that is no text', '{ resource: nodes, name: 5, status: 500 }', ['.name: must be text, not 5']],
  [
    'a part that Curfew does not have',
    '{ resource: nodes, by: drains, status: 500 }',
    [
      '.by: must be one of finalizer, drain, repair, grace-period, timer, forwarder, not "drains", did you mean "drain"?',
    ],
  ],
  [
    'a status that is a success',
    '{ resource: nodes, status: 200 }',
    ['.status: must be an HTTP status from 300 to 599'],
  ],
  [
    'a status that no server has',
    '{ resource: nodes, status: 600 }',
    ['.status: must be an HTTP status from 300 to 599'],
  ],
  ['a status that is no number', '{ resource: nodes, status: "500" }', ['.status: must be a number, not "500"']],
  ['half a status', '{ resource: nodes, status: 403.5 }', ['.status: must be a whole number, not 403.5']],
  [
    'no Go duration',
    '{ resource: nodes, status: 500, for: 10 minutes }',
    ['.for: time: unknown unit " minutes" in duration "10 minutes"'],
  ],
  ['a negative duration', '{ resource: nodes, status: 500, for: -1m }', ['.for: must not be negative']],
  ['no time at all', '{ resource: nodes, status: 500, for: 0s }', ['.for: must be longer than 0s']],
  ['an unknown field', '{ resource: nodes, status: 500, form: 1m }', ['.form: unknown field, did you mean "for"?']],
  ['text', 'nodes', [': must be an object, not "nodes"']],
]);

ofStep('condition', [
  ['no node', '{ type: Ready, status: "True" }', ['.node: is missing; it must be text']],
  ['no type', '{ node: n1, status: "True" }', ['.type: is missing; it must be text']],
  ['no status', '{ node: n1, type: Ready }', ['.status: must be one of True, False, Unknown, not undefined']],
  ['an empty name', '{ node: "", type: Ready, status: "True" }', ['.node: must not be empty']],
  [
    'a status without quotes',
    '{ node: n1, type: Ready, status: True }',
    ['.status: must be text, not true: write "True", with the quotes'],
  ],
  [
    'a status that no condition has',
    '{ node: n1, type: Ready, status: Flase }',
    ['.status: must be one of True, False, Unknown, not "Flase", did you mean "False"?'],
  ],
  [
    'a reason that is no text',
    '{ node: n1, type: Ready, status: "True", reason: 5 }',
    ['.reason: must be text, not 5'],
  ],
  [
    'a message that is no text',
    '{ node: n1, type: Ready, status: "True", message: [a] }',
    ['.message: must be text, not ["a"]'],
  ],
  [
    'an unknown field',
    '{ node: n1, type: Ready, status: "True", nodes: n2 }',
    ['.nodes: unknown field, did you mean "node"?'],
  ],
  ['text', 'n1', [': must be an object, not "n1"']],
]);

ofStep('launch', [
  ['no pool', '{ result: never }', ['.nodePool: is missing; it must be text']],
  ['no result', '{ nodePool: web }', ['.result: must be one of succeed, insufficientCapacity, never, not undefined']],
  [
    'a result that is none',
    '{ nodePool: web, result: success }',
    ['.result: must be one of succeed, insufficientCapacity, never, not "success", did you mean "succeed"?'],
  ],
  ['an empty pool', '{ nodePool: "", result: never }', ['.nodePool: must not be empty']],
  [
    'an unknown field',
    '{ nodepool: web, nodePool: web, result: never }',
    ['.nodepool: unknown field, did you mean "nodePool"?'],
  ],
]);

ofStep('delay', [
  ['no time in which messages are late', '{ by: 1h }', ['.for: is missing; it must be a Go duration']],
  ['no lateness', '{ for: 1m, by: 0s }', ['.by: must be longer than 0s']],
  [
    'a function that there is not',
    '{ function: drains, for: 1m, by: 1h }',
    ['.function: must be one of finalizer, drain, repair, grace-period, timer, not "drains", did you mean "drain"?'],
  ],
]);

ofStep('redrive', [
  [
    'the forwarder, which has no inbox',
    'forwarder',
    [': must be one of finalizer, drain, repair, grace-period, timer, not "forwarder"'],
  ],
]);

ofStep('rollback', [
  ['no duration', '{}', ['.for: is missing; it must be a Go duration']],
  ['an unknown field', '{ for: 1m, to: v1 }', ['.to: unknown field']],
]);

ofStep('restore', [
  ['what has no backup', '{ of: bus, age: 1h }', ['.of: must be one of table, cluster, not "bus"']],
  ['a cluster without a snapshot', '{ of: cluster }', [': must have `age`: that of the snapshot of etcd']],
  ['a backup of the future', '{ of: table, age: -1h }', ['.age: must not be negative']],
]);

it('a call that takes no time is no callDuration', () => {
  expect(faults(`${SCENARIO_HEAD}  callDuration: 0s\n`)).toEqual(['7 spec.callDuration: must be longer than 0s']);
});

describe('nodes are refused for', () => {
  it.each<Row>([
    ['what is no list', 'web', [': must be a list, not "web"']],
    ['an entry that is no object', '[web]', ['[0]: must be an object, not "web"']],
    ['no pool', '[{ count: 1 }]', ['[0].pool: is missing; it must be text']],
    [
      'a pool that no NodePool can be named',
      '[{ pool: Web }]',
      ['[0].pool: must be the name of a NodePool: lower case letters, digits and -, at most 40'],
    ],
    ['no node at all', '[{ pool: web, count: 0 }]', ['[0].count: must be a whole number from 1 to 10000']],
    ['too many', '[{ pool: web, count: 10001 }]', ['[0].count: must be a whole number from 1 to 10000']],
    ['half a node', '[{ pool: web, count: 1.5 }]', ['[0].count: must be a whole number from 1 to 10000']],
    ['a count that is no number', '[{ pool: web, count: "9" }]', ['[0].count: must be a whole number from 1 to 10000']],
    ['no zone in the list', '[{ pool: web, zones: [] }]', ['[0].zones: must name a zone, or be left out']],
    ['zones that are no list', '[{ pool: web, zones: us-west-2a }]', ['[0].zones: must be a list, not "us-west-2a"']],
    ['an empty zone', '[{ pool: web, zones: [""] }]', ['[0].zones[0]: must not be empty']],
    [
      'a zone that no label can say',
      '[{ pool: web, zones: [us west] }]',
      ['[0].zones[0]: must be the value of a label: letters, digits, -, _ and ., at most 63'],
    ],
    [
      'a label that is no text',
      '[{ pool: web, labels: { slurm: true } }]',
      ['[0].labels.slurm: must be text, not true'],
    ],
    [
      'a label that no Node can have',
      '[{ pool: web, labels: { a: "x y" } }]',
      ['[0].labels.a: must be the value of a label: letters, digits, -, _ and ., at most 63'],
    ],
    [
      'labels that other fields state',
      '[{ pool: web, labels: { karpenter.sh/nodepool: a, topology.kubernetes.io/zone: b } }]',
      [
        '[0].labels["karpenter.sh/nodepool"]: is stated by `pool`',
        '[0].labels["topology.kubernetes.io/zone"]: is stated by `zones`',
      ],
    ],
    ['an unknown field', '[{ pool: web, zone: a }]', ['[0].zone: unknown field, did you mean "zones"?']],
  ])('%s', (_, value, expected) => {
    expect(faults(`${SCENARIO_HEAD}  nodes: ${value}\n`)).toEqual(expected.map(each => `7 spec.nodes${each}`));
  });

  it('a name that an object has, too', () => {
    const object = '  objects: [{ apiVersion: v1, kind: Node, metadata: { name: web-1 } }]\n';
    expect(faults(`${SCENARIO_HEAD}  nodes: [{ pool: web, count: 2 }]\n${object}`)).toEqual([
      '8 spec.objects[0]: Node web-1 stands at line 7 already',
    ]);
  });
});
