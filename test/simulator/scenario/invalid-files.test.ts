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
