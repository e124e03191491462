import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import type { Scenario } from '../../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import { SCENARIO_HEAD, scenarioOf } from '../../builders/scenario.ts';

const catalog = clusterCatalog();
const parse = (text: string) => parseScenarios(text, 'f.yaml', catalog);

const good = (rest: string): Scenario => scenarioOf(SCENARIO_HEAD + rest);

/** `line path: message` of every fault. The head has 6 lines. */
function faults(text: string): string[] {
  const parsed = parse(text);
  if (parsed.ok) return [];
  return parsed.faults.map(({ place, message }) => `${place.line} ${place.path}: ${message}`);
}

describe('a valid file', () => {
  it('takes relative and absolute instants', () => {
    const { start, end, steps } = good(`  steps:
    - { at: 2m48s, restart: forwarder }
    - { at: "2024-11-01T15:01:00Z", restart: forwarder }
    - { at: 0, restart: forwarder }
`);
    expect(new Date(start).toISOString()).toBe('2024-11-01T15:00:00.000Z');
    expect(end - start).toBe(7_200_000);
    // In order of time.
    expect(steps.map(({ time }) => time - start)).toEqual([0, 60_000, 168_000]);
  });

  it('keeps steps of one instant in the order of the file', () => {
    const { steps } = good(`  steps:
    - { at: 5m, outage: { of: bus, for: 1m } }
    - { at: 1m, restart: forwarder }
    - { at: 5m, outage: { of: api, for: 1m } }
`);
    expect(steps.map(({ action }) => (action.kind === 'outage' ? action.of : action.kind))).toEqual([
      'restart',
      'bus',
      'api',
    ]);
  });

  it('fills in defaults: all actors, at least once, one second', () => {
    const { actors, expectations, start } = good(`  expect:
    - { at: 1m, write: { verb: delete } }
    - { before: 10m, write: { verb: delete }, times: 0 }
    - { after: 10m, event: { reason: DrainHeld, kind: Node, name: n1 } }
    - { write: { verb: delete }, times: { max: 3 } }
`);
    expect([...actors].toSorted()).toEqual(['cloud', 'disruption', 'karpenter', 'kubelet']);
    const [first, second, third, fourth] = expectations;
    expect(first).toMatchObject({
      window: { from: start + 60_000, to: start + 61_000 },
      times: { min: 1, max: Infinity },
    });
    expect(second).toMatchObject({ window: { from: undefined, to: start + 599_999 }, times: { min: 0, max: 0 } });
    expect(third).toMatchObject({
      window: { from: start + 600_000, to: undefined },
      pattern: { kind: 'event', fields: { reason: 'DrainHeld', about: { kind: 'Node', name: 'n1' } } },
    });
    expect(fourth).toMatchObject({ times: { min: 0, max: 3 } });
  });

  it('holds several documents, anchors and merge keys', () => {
    const parsed = parse(`---\n${SCENARIO_HEAD}---\n${SCENARIO_HEAD}  objects:
    - &node { apiVersion: v1, kind: Node, metadata: { name: n1 } }
    - { <<: *node, metadata: { name: n2 } }
---
`);
    expect(parsed.ok && parsed.scenarios.map(({ objects }) => objects.map(({ manifest }) => manifest.name))).toEqual([
      [],
      ['n1', 'n2'],
    ]);
  });

  it('knows the resources of CRDs that it brings itself', () => {
    const { objects } = good(`  objects:
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: { name: drains.example.com }
      spec:
        group: example.com
        scope: Namespaced
        names: { plural: drains, kind: Drain }
        versions: [{ name: v1, served: true, storage: true }]
    - { apiVersion: example.com/v1, kind: Drain, metadata: { name: d1, namespace: x } }
  expect:
    - { write: { resource: drains.example.com }, times: 0 }
    - { final: { resource: drains, namespace: x, name: d1 } }
`);
    expect(objects).toHaveLength(2);
  });

  it('takes the items of a List, as `kubectl get --output yaml` prints it', () => {
    const { objects } = good(`  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: n1 } }
    - apiVersion: v1
      items:
      - apiVersion: v1
        kind: Node
        metadata: { name: n2 }
      - { apiVersion: v1, kind: Pod, metadata: { name: a, namespace: ml } }
      kind: List
      metadata: { resourceVersion: "" }
    - { apiVersion: v1, kind: List, items: [] }
    - { apiVersion: v1, kind: Node, metadata: { name: n3 } }
`);
    expect(objects.map(({ manifest, place }) => `${place.line} ${place.path}: ${manifest.name}`)).toEqual([
      '8 spec.objects[0]: n1',
      '11 spec.objects[1].items[0]: n2',
      '14 spec.objects[1].items[1]: a',
      '18 spec.objects[3]: n3',
    ]);
  });

  it('takes another version of a kind that is served', () => {
    const { objects } = good(
      '  objects:\n    - { apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: { name: p } }\n',
    );
    expect(objects).toHaveLength(1);
  });

  it('leaves a bad config.toml to Curfew', () => {
    expect(good('  config: "[broken"\n').config).toBe('[broken');
  });
});

describe('a file that is not valid', () => {
  it('is refused with the line of an anchor that is missing', () => {
    expect(faults(`${SCENARIO_HEAD}  objects: []\n  steps: *nope\n`)).toEqual([
      '8 : Unresolved alias (the anchor must be set before the alias): nope',
    ]);
  });

  it.each([
    ['  objects: &a [*a]\n', '7'],
    ['  objects:\n    - &a { kind: Node, spec: { b: &b [{ c: *a }] } }\n', '8'],
    ['  objects:\n    - &a { <<: *a, kind: Node }\n', '8'],
  ])('is refused with the line of an alias inside of its own anchor: %j', (text, line) => {
    expect(faults(SCENARIO_HEAD + text)).toEqual([
      `${line} : stands for a part of the file that it stands in itself, which has no end`,
    ]);
  });

  it('may use the name of an anchor again inside of it', () => {
    const node = '{ apiVersion: v1, kind: Node, metadata: { name: n, labels: { a: &a x, b: *a } } }';
    expect(good(`  objects:\n    - &a ${node}\n`).objects[0]?.manifest.body).toMatchObject({
      metadata: { labels: { a: 'x', b: 'x' } },
    });
  });

  it('is refused with line and path for an unknown field, wherever it stands', () => {
    expect(
      faults(`${SCENARIO_HEAD}  steps:
    - { at: 1m, restart: forwarder, becuase: typo }
    - at: 2m
      delete:
        resource: nodes
        nam: n1
  expect:
    - { write: { verb: delete, ressource: nodes } }
  extra: 1
`),
    ).toEqual([
      '8 spec.steps[0].becuase: unknown field',
      '10 spec.steps[1].delete.name: is missing; it must be text',
      '12 spec.steps[1].delete.nam: unknown field, did you mean "name"?',
      '14 spec.expect[0].write.ressource: unknown field, did you mean "resource"?',
      '15 spec.extra: unknown field',
    ]);
  });

  it.each([
    ['a field of the spec that is misspelt', '  step: []\n', /^7 spec\.step: unknown field, did you mean "steps"\?$/],
    [
      'a window that is misspelt',
      '  expect: [{ at: 1m, withn: 5s, write: { by: repair } }]\n',
      /spec\.expect\[0\]\.withn: unknown field, did you mean "within"\?/,
    ],
    [
      'a verb that is none',
      '  expect: [{ write: { verb: deleted } }]\n',
      /verb: must be one of create, .*invoke, not "deleted", did you mean "delete"\?$/,
    ],
    [
      'a number for a name',
      '  objects: [{ apiVersion: v1, kind: Node, metadata: { name: 5 } }]\n',
      /name: must be text, not 5$/,
    ],
    ['an empty name', '  expect: [{ write: { name: "" } }]\n', /name: must not be empty$/],
    ['no duration for an outage', '  steps: [{ at: 1m, outage: { of: api } }]\n', /outage\.for: /],
    [
      'no Go duration',
      '  steps: [{ at: 5 minutes, restart: forwarder }]\n',
      /^7 spec\.steps\[0\]\.at: must be a Go duration .*unknown unit/,
    ],
    ['a number without a unit', '  steps: [{ at: 5, restart: forwarder }]\n', /missing unit/],
    ['a negative duration', '  steps: [{ at: -5m, restart: forwarder }]\n', /must not be negative/],
    ['no instant', '  steps: [{ at: "2024-11-01 15:00", restart: forwarder }]\n', /RFC 3339/],
    ['a step after the end', '  steps: [{ at: 3h, restart: forwarder }]\n', /outside of the run/],
    [
      'a step before the start',
      '  steps: [{ at: "2024-11-01T14:00:00Z", restart: forwarder }]\n',
      /outside of the run/,
    ],
    ['a step without an action', '  steps: [{ at: 1m }]\n', /must have exactly one of apply, .*; has none/],
    [
      'a step with two actions',
      '  steps: [{ at: 1m, restart: forwarder, outage: { of: api, for: 1m } }]\n',
      /outage and restart/,
    ],
    [
      'a cloud step that does nothing',
      '  steps: [{ at: 1m, cloud: { providerID: x } }]\n',
      /must have `fail`, `state` or `checks`/,
    ],
    ['an unknown part', '  steps: [{ at: 1m, outage: { of: dns, for: 1m } }]\n', /spec\.steps\[0\]\.outage\.of/],
    ['an unknown actor', '  actors: [kubelet, scheduler]\n', /spec\.actors\[1\]/],
    [
      'an unknown kind',
      '  objects: [{ apiVersion: v1, kind: Knode, metadata: { name: x } }]\n',
      /spec\.objects\[0\]: the cluster serves no v1 Knode/,
    ],
    [
      'an unknown kind in a List',
      '  objects: [{ apiVersion: v1, kind: List, items: [{ apiVersion: v1, kind: Knode, metadata: { name: x } }] }]\n',
      /spec\.objects\[0\]\.items\[0\]: the cluster serves no v1 Knode/,
    ],
    [
      'an object of a List without a name',
      '  objects: [{ apiVersion: v1, kind: List, items: [{ apiVersion: v1, kind: Node, metadata: {} }] }]\n',
      /spec\.objects\[0\]\.items\[0\]\.metadata\.name: is missing/,
    ],
    [
      'an object that is in a List, too',
      '  objects: [{ apiVersion: v1, kind: Node, metadata: { name: x } }, { apiVersion: v1, kind: List, items: [{ apiVersion: v1, kind: Node, metadata: { name: x } }] }]\n',
      /spec\.objects\[1\]\.items\[0\]: Node x stands at line 7 already/,
    ],
    [
      'a List without items',
      '  objects: [{ apiVersion: v1, kind: List, metadata: {} }]\n',
      /spec\.objects\[0\]\.items: is missing; it must be a list/,
    ],
    [
      'a List in a step',
      '  steps: [{ at: 1m, apply: { apiVersion: v1, kind: List, items: [] } }]\n',
      /spec\.steps\[0\]\.apply: is one object: give each item of the List its own step/,
    ],
    ['an unknown resource', '  expect: [{ write: { resource: node }, times: 0 }]\n', /serves no resource "node"/],
    [
      'a namespace where there is none',
      '  objects: [{ apiVersion: v1, kind: Node, metadata: { name: x, namespace: y } }]\n',
      /have no namespace/,
    ],
    [
      'an annotation that is no text',
      '  objects: [{ apiVersion: v1, kind: Node, metadata: { name: x, annotations: { a: true } } }]\n',
      /annotations\.a/,
    ],
    [
      'the same object twice',
      '  objects: [{ apiVersion: v1, kind: Node, metadata: { name: x } }, { apiVersion: v1, kind: Node, metadata: { name: x } }]\n',
      /stands at line 7 already/,
    ],
    ['an expectation of nothing', '  expect: [{ at: 1m }]\n', /exactly one of write, event, audit, final/],
    ['within without at', '  expect: [{ within: 1m, write: {} }]\n', /spec\.expect\[0\]\.within: needs `at`/],
    ['at beside before', '  expect: [{ at: 1m, before: 2m, write: {} }]\n', /must not stand beside `at`/],
    [
      'a window without an instant',
      '  expect: [{ after: 2m, before: 1m, write: {} }]\n',
      /before: must be later than `after`/,
    ],
    [
      'a step without a time',
      '  steps: [{ restart: forwarder }]\n',
      /steps\[0\]\.at: is missing; it must be a Go duration or/,
    ],
    [
      'an outage without an end',
      '  steps: [{ at: 1m, outage: { of: api } }]\n',
      /for: is missing; it must be a Go duration$/m,
    ],
    [
      'a list for a time',
      '  expect: [{ at: [1m], write: {} }]\n',
      /at: must be a Go duration or an RFC 3339 instant$/m,
    ],
    ['a window for the end', '  expect: [{ at: 1m, final: { resource: nodes, name: x } }]\n', /looks at the end/],
    ['min above max', '  expect: [{ write: {}, times: { min: 2, max: 1 } }]\n', /spec\.expect\[0\]\.times/],
    [
      'an object that is an instance',
      '  expect: [{ final: { resource: nodes, instance: x, state: running } }]\n',
      /must not mix/,
    ],
    ['a final without a name', '  expect: [{ final: { resource: nodes } }]\n', /must have `resource` and `name`/],
    [
      'fields of what must not exist',
      '  expect: [{ final: { resource: nodes, name: x, exists: false, match: {} } }]\n',
      /has no fields/,
    ],
    ['an unknown verb', '  expect: [{ write: { verb: remove } }]\n', /spec\.expect\[0\]\.write\.verb/],
    ['the same key twice', '  config: a\n  config: b\n', /unique/],
  ])('is refused for %s', (_, rest, message) => {
    const found = faults(SCENARIO_HEAD + rest);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  it('is refused without start or duration, and with a duration of nothing', () => {
    const spec = (text: string) =>
      `apiVersion: curfew.dev/v1alpha1\nkind: Scenario\nmetadata: { name: s }\nspec: ${text}\n`;
    expect(faults(spec('{ duration: 1h }'))[0]).toMatch(/^4 spec\.start/);
    expect(faults(spec('{ start: "2024-11-01T15:00:00Z" }'))[0]).toMatch(/^4 spec\.duration/);
    expect(faults(spec('{ start: "2024-11-01T15:00:00Z", duration: 0s }'))[0]).toMatch(/at least 1s/);
    expect(faults(spec('{ start: "2024-11-01T15:00:00Z", duration: 1000000h }'))[0]).toMatch(
      /^4 spec\.duration: must be at most 8760h/,
    );
    expect(faults(spec('{ start: "2024-11-01T15:00:00Z", duration: 8760h }'))).toEqual([]);
  });

  it.each([
    ['nothing', '', '1 : the file holds no Scenario'],
    ['something else', 'just text', /^1 .*this is no Scenario/],
    ['another kind', SCENARIO_HEAD.replace('Scenario', 'Deployment'), /^2 kind: /],
  ])('is refused when it holds %s', (_, text, expected) => {
    expect(faults(text)[0]).toMatch(expected);
  });

  it('says where the YAML breaks', () => {
    expect(faults(`${SCENARIO_HEAD}  objects: [{ a: b\n`)[0]).toMatch(/^\d+ : /);
  });

  it('reports what is wrong in each document', () => {
    expect(faults(`${SCENARIO_HEAD}  x: 1\n---\n${SCENARIO_HEAD}  y: 1\n`)).toEqual([
      '7 spec.x: unknown field',
      '15 spec.y: unknown field',
    ]);
  });
});
