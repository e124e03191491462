import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { validateCommand, type ValidateOptions } from '../../cli/validate.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'curfew-across-'))));
afterEach(() => rm(folder, { recursive: true }));

/** What is found in a folder of these files, `SEVERITY PLACE PATH: MESSAGE` each. */
async function found(
  files: Readonly<Record<string, string>>,
  options: ValidateOptions = {},
): Promise<{ readonly code: number; readonly findings: readonly string[] }> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  let out = '';
  const output = { out: (text: string) => (out += text), error: (text: string) => (out += text) };
  const code = await validateCommand([folder], { ...options, output: 'json' }, output);
  const { checked } = JSON.parse(out) as { checked: { findings: Record<string, unknown>[] }[] };
  const findings = checked.flatMap(each =>
    each.findings.map(({ severity, file, line, path, message }) =>
      `${String(severity)} ${String(file).replace(`${folder}/`, '')}:${String(line)} ${String(path)}: ${String(message)}`.replaceAll(
        `${folder}/`,
        '',
      ),
    ),
  );
  return { code, findings };
}

const policy = (name: string, spec: string): string =>
  `apiVersion: curfew.dev/v1alpha1\nkind: NodeLifecyclePolicy\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const pool = (name: string, labels: string, spec = '{}'): string =>
  `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: ${name}, labels: ${labels} }\nspec: ${spec}\n`;
const ON = (labels: string, blocks: string): string =>
  `{ nodePoolSelector: { matchLabels: ${labels} }, mode: Enforce, ${blocks} }`;

describe('what a policy does that says neither where nor how', () => {
  it.each<[string, string[]]>([
    ['{ repair: {} }', ['warning p.yaml:4 spec: enforces on all NodePools (no nodePoolSelector, no mode): state both']],
    [
      '{ mode: Enforce, repair: {} }',
      ['warning p.yaml:4 spec: enforces on all NodePools (no nodePoolSelector): state both'],
    ],
    [
      '{ nodePoolSelector: {}, repair: {} }',
      ['warning p.yaml:4 spec: enforces on all NodePools (no mode): state both'],
    ],
    [
      '{ nodePoolSelector: { matchLabels: { a: b } }, repair: {} }',
      ['note p.yaml:4 spec: enforces (no mode): state the mode'],
    ],
    ['{ nodePoolSelector: {}, mode: Enforce, repair: {} }', []],
    ['{ mode: Observe, repair: {} }', []],
  ])('%s', async (spec, findings) => {
    expect(await found({ 'p.yaml': policy('p', spec) })).toEqual({ code: 0, findings });
  });
});

describe('what is accepted and hardly meant', () => {
  it.each<[string, string]>([
    ['repair: { maxUnhealthy: 0 }', 'warning p.yaml:4 spec.repair.maxUnhealthy: is 0: nothing is ever repaired'],
    ['repair: { maxUnhealthy: 0% }', 'warning p.yaml:4 spec.repair.maxUnhealthy: is "0%": nothing is ever repaired'],
    [
      'repair: { maxConcurrentRepairs: 0 }',
      'warning p.yaml:4 spec.repair.maxConcurrentRepairs: is 0: nothing is ever repaired',
    ],
    [
      'repairLimits: { maxConcurrentRepairsPerZone: 0 }',
      'warning p.yaml:4 spec.repairLimits.maxConcurrentRepairsPerZone: is 0: nothing is ever repaired',
    ],
    ['drain: {}', 'warning p.yaml:4 spec.drain: limits nothing: it has no effect'],
  ])('%s', async (block, finding) => {
    expect(await found({ 'p.yaml': policy('p', ON('{ a: b }', block)) })).toEqual({ code: 0, findings: [finding] });
  });

  it('a policy without a block, unless it is a brake', async () => {
    const without =
      'warning p.yaml:4 spec: has no block: it has no effect, but that no brake of a more general policy holds here';
    expect((await found({ 'p.yaml': policy('p', '{ nodePoolSelector: {}, mode: Enforce }') })).findings).toEqual([
      without,
    ]);
    expect((await found({ 'p.yaml': policy('p', '{ nodePoolSelector: {}, mode: Observe }') })).findings).toEqual([
      'note p.yaml:4 spec: has no block: it is a brake, and holds what would begin',
    ]);
  });

  it('fails with --strict, and notes never do', async () => {
    expect((await found({ 'p.yaml': policy('p', '{ repair: {} }') }, { strict: true })).code).toBe(1);
    expect((await found({ 'p.yaml': policy('p', '{ mode: Observe }') }, { strict: true })).code).toBe(0);
  });
});

describe('an unknown field hides nothing', () => {
  it('in a policy', async () => {
    const { code, findings } = await found({
      'p.yaml': policy(
        'p',
        '{ nodePoolSelecter: {}, mode: in, repair: { defaultTolerationDuraton: 3m, maxUnhealthy: 101%, policies: [{ conditionType: Redy, toleration: 4d }], actions: [{ type: Terminate }, { type: Reboot }] }, drain: }',
      ),
    });
    expect(code).toBe(1);
    expect(findings.map(each => each.split(' ')[2])).toEqual([
      'spec.nodePoolSelecter:',
      'spec.mode:',
      'spec.repair.defaultTolerationDuraton:',
      'spec.repair.maxUnhealthy:',
      'spec.repair.policies[0].toleration:',
      'spec.repair.actions[0].type:',
      'spec.drain:',
    ]);
  });

  it('in a configuration', async () => {
    const { findings } = await found({
      'config.toml':
        'maxEventAg = "1h"\nmaxEventAge = "soon"\n[[userNamespaces]]\nname = "*"\nmode = "immediate"\n[[podDrainPolicies]]\nname = "a"\nmode = "Immediate"\n',
    });
    expect(findings.map(each => each.split(' ').slice(1, 3).join(' '))).toEqual([
      'config.toml:1 maxEventAg:',
      'config.toml:2 maxEventAge:',
      'config.toml:5 userNamespaces[0].mode:',
      'config.toml:6 podDrainPolicies[0].podSelector:',
    ]);
  });

  it('in a scenario', async () => {
    const { findings } = await found({
      's.yaml':
        'apiVersion: curfew.dev/v1alpha1\nkind: Scenario\nmetadata: { name: s }\nspec:\n  start: "2024-11-01T15:00:00Z"\n  duration: 1h\n  aktors: []\n  objects: [{ apiVersion: v1, kind: Nod, metadata: { name: n } }]\n  steps: [{ at: 5m, delete: { resource: node, name: n } }]\n',
    });
    expect(findings.map(each => each.split(' ').slice(1, 3).join(' '))).toEqual([
      's.yaml:7 spec.aktors:',
      's.yaml:8 spec.objects[0]:',
      's.yaml:9 spec.steps[0].delete.resource:',
    ]);
  });

  it('nor does one document of a file that is no YAML hide the others', async () => {
    const { findings } = await found({ 'p.yaml': `a: b: c\n---\n${policy('p', '{ mode: in }')}` });
    expect(findings).toEqual([
      'error p.yaml:1 : has a second ": " in its line: quote the value, or begin a new line',
      'error p.yaml:6 spec.mode: must be one of Enforce, Observe, not "in"',
    ]);
  });

  it('nor one that uses an anchor of another document', async () => {
    const { findings } = await found({ 'p.yaml': `a: &a 1\n---\nb: 1\nc: *a\n---\n${policy('p', '{ mode: in }')}` });
    expect(findings).toEqual([
      'error p.yaml:4 : Unresolved alias (the anchor must be set before the alias): a',
      'error p.yaml:9 spec.mode: must be one of Enforce, Observe, not "in"',
    ]);
  });

  it('a key that is too far in is the mistake, not the value above it', async () => {
    const text = 'apiVersion: curfew.dev/v1alpha1\nkind: NodeLifecyclePolicy\nmetadata: { name: p }\nspec:\n';
    const { findings } = await found({ 'p.yaml': `${text}  mode: Observe\n   repair: {}\n` });
    expect(findings).toEqual([
      'error p.yaml:6 : is indented more deeply than the line above it, which has a value already: all keys of a block begin in one column',
    ]);
  });

  it('and JSON with a comma too many is no JSON', async () => {
    const json =
      '{ "apiVersion": "curfew.dev/v1alpha1", "kind": "NodeLifecyclePolicy", "metadata": { "name": "p" },\n  "spec": { "mode": "Observe", "repair": {}, } }\n';
    const { code, findings } = await found({ 'p.json': json });
    expect({ code, findings }).toEqual({
      code: 1,
      findings: ['error p.json:2 : is no JSON: Expected double-quoted property name'],
    });
  });
});

describe('files side by side', () => {
  it('a template that the ConfigMap lacks, or that cannot be read', async () => {
    const data = 'config.toml: |\n    maxEventAge = "1h"\n  reboot.yaml: "kind: Reboot"\n  broken.yaml: "{{ if }}"\n';
    const action = (template: string): string =>
      `[{ type: CustomResource, timeout: 1h, template: ${template} }, { type: Terminate }]`;
    const hook = 'name: a, at: after-terminate, customResource: { conditionType: Done, template: broken.yaml }';
    const blocks = [
      `repair: { actions: ${action('reboot.yaml')}, policies: [{ conditionType: Ready, toleration: 5m, actions: ${action('rebot.yaml')} }] }`,
      `termination: { hooks: [{ ${hook} }] }`,
    ];
    const p = policy('p', ON('{ a: b }', blocks.join(', ')));
    expect((await found({ 'p.yaml': p })).findings).toEqual([]);
    const cm = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: curfew-config }\ndata:\n  ${data}`;
    const { code, findings } = await found({ 'p.yaml': p, 'cm.yaml': cm });
    expect({ code, findings }).toEqual({
      code: 0,
      findings: [
        'warning p.yaml:4 spec.repair.policies[0].actions[0].template: ConfigMap curfew/curfew-config has no key "rebot.yaml", did you mean "reboot.yaml"?',
        'warning p.yaml:4 spec.termination.hooks[0].customResource.template: the template cannot be read: template: broken.yaml:1: missing value for if',
      ],
    });
    // That of somebody else says nothing.
    expect((await found({ 'p.yaml': p, 'cm.yaml': cm.replace('curfew-config', 'others') })).findings).toEqual([
      expect.stringMatching(/^note cm.yaml/),
    ]);
  });

  it('a name that stands twice, and says something else', async () => {
    const one = policy('p', ON('{ a: b }', 'repair: {}'));
    expect((await found({ 'a.yaml': one, 'b.yaml': one })).findings).toEqual([]);
    expect((await found({ 'b.yaml': policy('p', ON('{ a: b }', 'protection: {}')) })).findings).toEqual([
      'warning b.yaml:3 metadata.name: NodeLifecyclePolicy p stands at a.yaml:3 too, and says something else: what is applied last is in force',
    ]);
  });

  it('two FinalizerRules of one kind', async () => {
    const rule = (name: string, version: string, kind: string): string =>
      `apiVersion: curfew.dev/v1alpha1\nkind: FinalizerRule\nmetadata: { name: ${name} }\nspec: { group: example.com, version: ${version}, kind: ${kind}, finalizerName: example.com/${name}, cleanup: { lambda: { functionName: f } } }\n`;
    const files = { 'a.yaml': rule('a', 'v1', 'Database'), 'b.yaml': rule('b', 'v1', 'Bucket') };
    expect((await found(files)).findings).toEqual([]);
    expect((await found({ ...files, 'c.yaml': rule('c', 'v2', 'Database') })).findings).toEqual([
      'warning c.yaml:4 spec.kind: FinalizerRule a has Database.example.com too: the older of the two is in force, the other one puts its finalizer on nothing new',
    ]);
    const core = (name: string): string => rule(name, 'v1', 'ConfigMap').replace('group: example.com, ', '');
    expect((await found({ 'a.yaml': core('a'), 'b.yaml': core('b'), 'c.yaml': '' })).findings).toEqual([
      expect.stringContaining('b.yaml:4 spec.kind: FinalizerRule a has ConfigMap too:'),
    ]);
  });

  it('two policies of one selector', async () => {
    const { findings } = await found({
      'a.yaml': policy('a', ON('{ team: x }', 'repair: {}, protection: {}')),
      'b.yaml': policy('b', ON('{ team: x }', 'repair: {}, protection: {}, termination: {}')),
    });
    expect(findings).toEqual([
      'warning b.yaml:4 spec.nodePoolSelector: spec.repair and spec.protection have no effect anywhere: NodeLifecyclePolicy a has the same nodePoolSelector and comes first by name',
    ]);
  });

  it('two that could select one NodePool are a note, until there are NodePools to look at', async () => {
    const both = {
      'a.yaml': policy('a', ON('{ team: x }', 'repair: {}')),
      'b.yaml': policy('b', ON('{ tier: y }', 'repair: {}')),
    };
    const [said] = (await found(both)).findings;
    expect(said).toBe(
      'note b.yaml:4 spec.nodePoolSelector: spec.repair has no effect where both select a NodePool: NodeLifecyclePolicy a has equally many requirements and comes first by name',
    );
    expect((await found({ 'x.yaml': pool('x', '{ team: x }'), 'y.yaml': pool('y', '{ tier: y }') })).findings).toEqual(
      [],
    );
    expect((await found({ 'z.yaml': pool('z', '{ team: x, tier: y }') })).findings).toEqual([
      'warning b.yaml:4 spec.nodePoolSelector: spec.repair has no effect in NodePool z: NodeLifecyclePolicy a has equally many requirements and comes first by name',
    ]);
  });

  it.each([
    ['{ team: wbe }', 'selects no NodePool here: there are gpu, web; none has team "wbe", did you mean "web"?'],
    ['{ taem: web }', 'selects no NodePool here: there are gpu, web; none has the label taem, did you mean "team"?'],
  ])('a selector that selects nothing here: %s', async (labels, message) => {
    const { findings } = await found({
      'a.yaml': policy('a', ON(labels, 'repair: {}')),
      'pools.yaml': `${pool('gpu', '{ team: gpu }')}---\n${pool('web', '{ team: web }')}`,
    });
    expect(findings).toEqual([`warning a.yaml:4 spec.nodePoolSelector: ${message}`]);
  });

  it('a block without effect, since another comes before it everywhere', async () => {
    const { findings } = await found({
      'a.yaml': policy('a', '{ nodePoolSelector: {}, mode: Enforce, repair: {}, drain: { maxConcurrent: 1 } }'),
      'b.yaml': policy('b', ON('{ team: web }', 'drain: { maxConcurrent: 2 }')),
      'pool.yaml': pool('web', '{ team: web }', '{ repair: {} }'),
    });
    expect(findings).toEqual([
      'warning a.yaml:4 spec.repair: has no effect in NodePool web: the block of the NodePool itself comes before it',
      'warning a.yaml:4 spec.drain: has no effect in NodePool web: the block of NodeLifecyclePolicy b comes before it',
    ]);
  });
});
