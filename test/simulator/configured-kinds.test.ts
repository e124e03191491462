/** What a configuration names and the objects of a scenario leave out. */
import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../simulator/world.ts';
import { SCENARIO_HEAD } from '../builders/scenario.ts';
import { complaints, simulate } from './simulate.ts';

const DEFINITION = `    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: { name: drainrequests.example.com }
      spec:
        group: example.com
        names: { kind: DrainRequest, listKind: DrainRequestList, plural: drainrequests, singular: drainrequest }
        scope: Namespaced
        versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]
`;
const NODE = `    - { apiVersion: v1, kind: Node, metadata: { name: n1 } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: a }, spec: { nodeName: n1 } }
`;
const TABLE = (kind = 'kind = "DrainRequest"'): string => `[customDrain]
enabled = true
templateFileName = "drain.yaml"
namespace = "slurm"
apiGroup = "example.com"
version = "v1"
${kind}
statusConditionType = "DrainComplete"
statusConditionStatus = "True"
`;
const MODE = '[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n';
const CONFIG_MAP = (toml: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': toml, 'drain.yaml': 'spec: { node: "{{ .HealthEvent.NodeName }}" }' },
  });
const ASKED = (at: string): string =>
  `    - { at: ${at}, busEvent: { source: m, detail-type: HealthEvent, detail: { id: e1, nodeName: n1 } } }\n`;
const CREATED = 'write: { verb: create, resource: drainrequests, namespace: slurm, name: drain-n1-e1 }';

describe('the kind of a custom drain', () => {
  it('is granted where a step applies the configuration, as where the file has it', async () => {
    const result = await simulate(`  objects:\n${DEFINITION}${NODE}  steps:
    - { at: 1m, apply: ${CONFIG_MAP(TABLE())} }
${ASKED('2m')}  expect:\n    - { at: 2m, ${CREATED} }\n`);
    expect(complaints(result)).toEqual([]);
    expect(result.violations).toEqual([]);
  });

  it('is granted where the ConfigMap is among the objects', async () => {
    const result = await simulate(`  objects:\n${DEFINITION}${NODE}    - ${CONFIG_MAP(TABLE())}\n  steps:
${ASKED('2m')}  expect:\n    - { at: 2m, ${CREATED} }\n`);
    expect(complaints(result)).toEqual([]);
    expect(result.violations).toEqual([]);
  });

  it('is granted where a configuration that is refused names it', async () => {
    const result = await simulate(`  config: ${JSON.stringify(MODE)}\n  objects:\n${DEFINITION}${NODE}  steps:
    - { at: 1m, apply: ${CONFIG_MAP(MODE + TABLE())} }
${ASKED('2m')}  expect:
    - { at: 1m, event: { reason: InvalidConfiguration } }
    - { at: 2m, write: { verb: evict, resource: pods, name: a } }
    - { ${CREATED}, times: 0 }\n`);
    expect(complaints(result)).toEqual([]);
    expect(result.violations).toEqual([]);
  });

  it('has the namespace that the configuration names', async () => {
    const result = await simulate(
      `  config: ${JSON.stringify(TABLE())}\n  templates: { drain.yaml: "spec: {}" }\n  objects:\n${DEFINITION}${NODE}  steps:\n${ASKED('0s')}  expect:\n    - { at: 0s, ${CREATED} }\n`,
    );
    expect(complaints(result)).toEqual([]);
  });

  it.each([
    ['drainrequests', TABLE(), true],
    ['drainrequests.example.com', TABLE(), true],
    ['drainpolicies', TABLE('kind = "DrainPolicy"'), true],
    ['drains', TABLE('kind = "Odd"\nresource = "drains"'), true],
    ['drainrequest', TABLE(), false],
    ['drainrequests', MODE, false],
    ['drainrequests', '[customDrain', false],
  ])('may be named as %s where nothing serves it, by its configuration', (resource, config, isValid) => {
    const text = `  config: ${JSON.stringify(config)}\n  expect:
    - { write: { verb: create, resource: ${resource} }, times: 0 }
    - { final: { resource: ${resource}, namespace: slurm, name: x, exists: false } }\n`;
    expect(parseScenarios(SCENARIO_HEAD + text, 'f.yaml', clusterCatalog()).ok).toBe(isValid);
  });
});
