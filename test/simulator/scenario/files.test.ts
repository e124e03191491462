import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import type { Scenario } from '../../../simulator/scenario/scenario.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import { SCENARIO_HEAD } from '../../builders/scenario.ts';

const catalog = clusterCatalog();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const parse = (rest: string) => parseScenarios(SCENARIO_HEAD + rest, join(folder, 'days/day.yaml'), catalog);

function good(rest: string): Scenario {
  const parsed = parse(rest);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const [scenario] = parsed.scenarios;
  if (scenario === undefined) throw new Error('no scenario');
  return scenario;
}

/** `file:line path: message`, with files as from the temp folder. */
function faults(rest: string): string[] {
  const parsed = parse(rest);
  const local = (text: string): string => text.replaceAll(`${folder}/`, '');
  if (parsed.ok) return [];
  return parsed.faults.map(({ place, message }) => local(`${place.file}:${place.line} ${place.path}: ${message}`));
}

const names = ({ objects }: Scenario): string[] => objects.map(({ manifest: { kind, name } }) => `${kind} ${name}`);

const POOL =
  'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: web, creationTimestamp: null }\nspec: {}\n';
const POLICY =
  'apiVersion: curfew.dev/v1alpha1\nkind: NodeLifecyclePolicy\nmetadata: { name: p }\nspec: { mode: Observe }\n';
const GATE = '[featureGates]\nnodeRepair = true\n';

describe('files', () => {
  it('are read from the folder of the scenario: manifests, Lists, JSON, config.toml', () => {
    write({
      'pool.yaml': `${POOL}---\n${POLICY}`,
      'list.json': JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }],
      }),
      'config.toml': GATE,
    });
    const scenario = good('  files: [../pool.yaml, ../list.json, ../config.toml]\n');
    expect(names(scenario)).toEqual(['NodePool web', 'NodeLifecyclePolicy p', 'Node n1']);
    expect(scenario.config).toBe(GATE);
    expect(scenario.objects[1]?.place).toMatchObject({ file: join(folder, 'pool.yaml'), line: 6 });
  });

  it('may be folders, of which what Curfew and the cluster do not know is passed over', () => {
    write({
      'days/day.yaml': SCENARIO_HEAD,
      'days/pools/pool.yaml': POOL,
      'days/pools/class.yml': 'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: { name: default }\n',
      'days/kustomization.yaml':
        'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [pools/pool.yaml]\n',
      'days/values.yaml': 'replicas: 1\n',
      'days/chart/deployment.yaml': 'apiVersion: apps/v1\nkind: {{ .Values.kind }}\n',
      'days/settings.toml': 'a = 1\n',
      'days/.hidden.yaml': 'a: [\n',
      'days/node_modules/x/package.json': '{}',
      'days/README.md': 'a: [',
    });
    expect(names(good('  files: [.]\n'))).toEqual(['NodePool web']);
  });

  it('are read once, and copies that say the same count once', () => {
    write({ 'a/pool.yaml': POOL, 'b/pool.yaml': POOL, 'b/config.toml': GATE, 'a/config.toml': GATE });
    expect(names(good('  files: [../a, ../a/pool.yaml, ../b]\n'))).toEqual(['NodePool web']);
  });

  it('that the configuration or a policy names are templates', () => {
    const drain = 'kind: Drain\napiVersion: example.com/v1\nmetadata: { name: "{{ .EventID }}" }\n';
    const ask = 'kind: Ask\nspec: { node: {{ .NodeName }} }\n';
    write({
      'a/config.toml': '[customDrain]\ntemplateFileName = "drain.yaml"\n',
      'a/drain.yaml': drain,
      'a/ask.yaml': ask,
      'a/policy.yaml': POLICY.replace(
        'mode: Observe',
        'repair: { actions: [{ type: CustomResource, template: ask.yaml }] }',
      ),
    });
    const scenario = good('  files: [../a]\n');
    expect(names(scenario)).toEqual(['NodeLifecyclePolicy p']);
    expect(scenario.templates).toEqual({ 'drain.yaml': drain, 'ask.yaml': ask });
  });

  it("take Curfew's ConfigMap for the configuration with its templates", () => {
    const map = (data: object) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'curfew', name: 'curfew-config' },
        data,
      });
    write({ 'map.json': map({ 'config.toml': GATE, 'drain.yaml': 'x' }) });
    const scenario = good('  files: [../map.json]\n');
    expect(scenario.config).toBe(GATE);
    expect(scenario.templates).toEqual({ 'drain.yaml': 'x' });
    expect(names(scenario)).toEqual([]);
  });

  it('may define kinds that others have, and define those of the cluster again', () => {
    const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: asks.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { plural: asks, kind: Ask }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
`;
    const own = definition.replace('asks.example.com', 'nodelifecyclepolicies.curfew.dev');
    write({
      'a/crd.yaml': `${definition}---\n${own}`,
      'a/b.yaml': 'apiVersion: example.com/v1\nkind: Ask\nmetadata: { name: a }\n',
    });
    expect(names(good('  files: [../a]\n'))).toEqual(['Ask a', 'CustomResourceDefinition asks.example.com']);
  });

  it('of the deployment are valid as they stand', () => {
    const parsed = parseScenarios(`${SCENARIO_HEAD}  files: [deploy]\n`, 'scenario.yaml', catalog);
    expect(parsed.ok && parsed.scenarios.flatMap(names)).toContain('NodeLifecyclePolicy observe');
    expect(parsed.ok && parsed.scenarios[0]?.config).toContain('nodeRepair');
  });
});

describe('files are refused for', () => {
  it.each<readonly [string, Readonly<Record<string, string>>, string, readonly string[]]>([
    [
      'a list that is none',
      {},
      '  files: pool.yaml\n',
      ['days/day.yaml:7 spec.files: must be a list, not "pool.yaml"'],
    ],
    ['an entry that is no text', {}, '  files: [5]\n', ['days/day.yaml:7 spec.files[0]: must be text, not 5']],
    ['an empty entry', {}, '  files: [""]\n', ['days/day.yaml:7 spec.files[0]: must not be empty']],
    [
      'a file that is missing',
      {},
      '  files: [../pol.yaml]\n',
      ['days/day.yaml:7 spec.files[0]: there is no file or folder pol.yaml'],
    ],
    [
      'a folder without any',
      { 'a/readme.md': '' },
      '  files: [../a]\n',
      ['days/day.yaml:7 spec.files[0]: a holds no .yaml, .yml, .json or .toml file'],
    ],
    [
      'what is no text',
      { 'a.yaml': 'a\0' },
      '  files: [../a.yaml]\n',
      ['days/day.yaml:7 spec.files[0]: a.yaml is not a text file in UTF-8'],
    ],
    [
      'what is no YAML',
      { 'a.yaml': 'a: b\nc: [\n' },
      '  files: [../a.yaml]\n',
      ['a.yaml:3 : Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ],
    [
      'a named file without a manifest',
      { 'a.yaml': 'a: b\n' },
      '  files: [../a.yaml]\n',
      ['a.yaml:1 : holds no manifest, and nothing names it as a template'],
    ],
    [
      'a kind of ours that is misspelt',
      { 'a/p.yaml': POLICY.replace('NodeLifecyclePolicy', 'NodeLifecyclePolice') },
      '  files: [../a]\n',
      [
        'a/p.yaml:2 kind: the cluster serves no curfew.dev/v1alpha1 NodeLifecyclePolice, did you mean "curfew.dev/v1alpha1 NodeLifecyclePolicy"?',
      ],
    ],
    [
      'a kind under a group that is misspelt',
      { 'a/p.yaml': POOL.replace('karpenter.sh', 'karpenters.sh') },
      '  files: [../a]\n',
      ['a/p.yaml:2 kind: the cluster serves no karpenters.sh/v1 NodePool, did you mean "karpenter.sh/v1 NodePool"?'],
    ],
    [
      'a manifest without a name',
      { 'p.yaml': 'apiVersion: v1\nkind: Node\nmetadata: { labels: {} }\n' },
      '  files: [../p.yaml]\n',
      ['p.yaml:3 metadata.name: is missing; it must be text'],
    ],
    [
      'a label that is no text',
      { 'p.yaml': 'apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n  labels: { a: true }\n' },
      '  files: [../p.yaml]\n',
      ['p.yaml:5 metadata.labels.a: must be text, not true'],
    ],
    [
      'the namespace of what has none',
      { 'p.yaml': 'apiVersion: v1\nkind: Node\nmetadata: { name: n, namespace: x }\n' },
      '  files: [../p.yaml]\n',
      ['p.yaml:1 : nodes have no namespace'],
    ],
    [
      'an object that stands in two of them',
      { 'a.yaml': POOL, 'b.yaml': POOL.replace('{}', '{ weight: 1 }') },
      '  files: [../a.yaml, ../b.yaml]\n',
      ['b.yaml:1 : NodePool web stands in a.yaml, line 1, already'],
    ],
    [
      'an object that the scenario has, too',
      { 'a.yaml': POOL },
      '  files: [../a.yaml]\n  objects: [{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: web } }]\n',
      ['days/day.yaml:8 spec.objects[0]: NodePool web stands in a.yaml, line 1, already'],
    ],
    [
      'two configurations',
      { 'a/config.toml': GATE, 'b/config.toml': '' },
      '  files: [../a, ../b]\n',
      ['b/config.toml:1 : the configuration stands in a/config.toml already'],
    ],
    [
      'a configuration beside that of the scenario',
      { 'a/config.toml': GATE },
      '  files: [../a]\n  config: ""\n',
      ['days/day.yaml:8 spec.config: stands in a/config.toml already'],
    ],
    [
      'a template that the scenario has, too',
      { 'a/config.toml': 'templateFileName = "t.yaml"', 'a/t.yaml': 'x' },
      '  files: [../a]\n  templates: { t.yaml: y }\n',
      ['days/day.yaml:8 spec.templates["t.yaml"]: stands in one of the files already'],
    ],
    [
      'a template that two of them have',
      { 'a/config.toml': 'templateFileName = "t.yaml"', 'a/t.yaml': 'x', 'b/t.yaml': 'y' },
      '  files: [../a, ../b]\n',
      ['b/t.yaml:1 : the template t.yaml stands in a/t.yaml already'],
    ],
  ])('%s', (_, files, rest, expected) => {
    write(files);
    expect(faults(rest)).toEqual(expected);
  });
});
