import { spawnSync } from 'node:child_process';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { validateCommand, type ValidateOptions } from '../../cli/validate.ts';
import { runCurfew } from './run-curfew.ts';

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map(folder => rm(folder, { recursive: true })));
});

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'curfew-validate-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

interface Said {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs the command in a folder; paths in what it prints are shown without that folder. */
async function validate(
  files: Readonly<Record<string, string>>,
  paths: readonly string[] = ['.'],
  options: ValidateOptions = {},
): Promise<Said> {
  const folder = await folderWith(files);
  let out = '';
  let error = '';
  const inFolder = (path: string): string => (path === '.' ? folder : join(folder, path));
  const code = await validateCommand(
    paths.map(inFolder),
    {
      ...options,
      ...(options.template !== undefined && { template: inFolder(options.template) }),
      ...(options.event !== undefined && { event: inFolder(options.event) }),
    },
    { out: text => (out += text), error: text => (error += text) },
  );
  return { code, out: out.replaceAll(`${folder}/`, ''), error: error.replaceAll(`${folder}/`, '') };
}

const CUSTOM = `[customDrain]
enabled = true
templateFileName = "drain.yaml"
namespace = "nvsentinel"
apiGroup = "nvsentinel.nvidia.com"
version = "v1alpha1"
kind = "DrainRequest"
timeout = "3600s"
statusConditionType = "DrainComplete"
statusConditionStatus = "True"
`;
const TEMPLATE =
  'spec:\n  nodeName: {{ printf "%q" .HealthEvent.NodeName }}\n  reason: {{ printf "%q" .HealthEvent.Message }}\n';
const BAD_RULE = '[[userNamespaces]]\nname = "*"\nmode = "immediate"\n';
const UNKNOWN_MODE =
  'error: userNamespaces[0].mode: must be one of Immediate, DeleteAfterTimeout, AllowCompletion, not "immediate", did you mean "Immediate"?';

/** Says where it holds and how, unless the spec does. */
const POLICY = (spec: string): string =>
  `apiVersion: curfew.dev/v1alpha1\nkind: NodeLifecyclePolicy\nmetadata: { name: edge }\nspec:\n${spec}${spec.includes('mode:') ? '' : '  nodePoolSelector: {}\n  mode: Enforce\n'}`;
const SCENARIO = (duration: string): string =>
  `apiVersion: curfew.dev/v1alpha1\nkind: Scenario\nmetadata: { name: s }\nspec:\n  start: "2024-11-01T15:00:00Z"\n  ${duration}\n`;

it('warns of a toleration of a year and more, which is read as Never', async () => {
  const policy = (repair: string): string => `apiVersion: curfew.dev/v1alpha1
kind: NodeLifecyclePolicy
metadata: { name: edge }
spec:
  nodePoolSelector: { matchLabels: { team: edge } }
  mode: Enforce
  repair: ${repair}
`;
  const { code, out } = await validate({
    'edge.yaml': policy(
      '{ defaultTolerationDuration: 9000h, policies: [{ conditionType: Ready, toleration: 8760h }, { conditionType: KernelReady, toleration: 8759h }, { conditionType: StorageReady, toleration: Never }], conditions: [{ type: Slow, status: "True", toleration: 10000h }] }',
    ),
  });
  expect(code).toBe(0);
  const told = (path: string, text: string): string =>
    `${path}: ${text} is read as Never: nothing is repaired for this, and it counts nowhere`;
  expect(out).toContain(told('spec.repair.defaultTolerationDuration', '9000h'));
  expect(out).toContain(told('spec.repair.policies[0].toleration', '8760h'));
  expect(out).toContain(told('spec.repair.conditions[0].toleration', '10000h'));
  expect(out.split('is read as Never')).toHaveLength(4);
});

it.each<[string, number]>([
  ['terminationGracePeriod: 20m', 1],
  ['terminationGracePeriod: Inherit', 1],
  ['policies: [{ conditionType: Ready, toleration: 1m, terminationGracePeriod: 5m }]', 1],
  ['terminationGracePeriod: 0s', 0],
  ['terminationGracePeriod: 20m, actions: [{ type: DrainThenTerminate }]', 0],
])('warns of a drain bound that nodes of an Auto Scaling group do not have: %s', async (block, expected) => {
  const warnings = async (repair: string): Promise<number> => {
    const spec = `{ nodePoolSelector: {}, mode: Enforce, repair: { ${repair} } }`;
    const text = `apiVersion: curfew.dev/v1alpha1\nkind: NodeLifecyclePolicy\nmetadata: { name: all }\nspec: ${spec}\n`;
    const { out } = await validate({ 'all.yaml': text });
    return out.split('does not hold for nodes without a NodeClaim').length - 1;
  };
  expect(await warnings(`nodesWithoutNodeClaim: TerminateInAutoScalingGroup, ${block}`)).toBe(expected);
  expect(await warnings(block)).toBe(0);
});

describe('curfew validate', () => {
  it('warns of a maxEventAge that is longer than what is remembered of ends', async () => {
    const text = (age: string): string => `# as it was\nmaxEventAge = "${age}"\n`;
    expect(await validate({ 'config.toml': text('528h') })).toMatchObject({
      code: 0,
      out: 'config.toml: Configuration config.toml is valid\n',
    });
    const { code, out } = await validate({ 'config.toml': text('528h1s') });
    expect(code).toBe(0);
    expect(out)
      .toBe(`config.toml:2:15: warning: maxEventAge: how drains ended is remembered for 22 days, more than that counts as 528h0m0s
 2 | maxEventAge = "528h1s"
   |               ^^^^^^^^
config.toml: Configuration config.toml is accepted, with 1 warning
1 warning in 1 checked
`);
  });

  it('says line and key of what is wrong with a configuration', async () => {
    expect(await validate({ 'config.toml': BAD_RULE })).toEqual({
      code: 1,
      out: `config.toml:3:8: ${UNKNOWN_MODE}\n 3 | mode = "immediate"\n   |        ^^^^^^^^^^^\n1 error in 1 checked\n`,
      error: '',
    });
  });

  it('prints the rendered custom resource', async () => {
    const { code, out } = await validate({ 'config.toml': CUSTOM, 'drain.yaml': TEMPLATE });
    expect(code).toBe(0);
    expect(out).toBe(`config.toml: Configuration config.toml is valid
    apiVersion: nvsentinel.nvidia.com/v1alpha1
    kind: DrainRequest
    metadata:
      name: drain-node-1-67204be5d2c3f5a1b8e0c9d4
      namespace: nvsentinel
    spec:
      nodeName: node-1
      reason: GPU 0 has fallen off the bus
`);
  });

  it('prints an integer with all its digits', async () => {
    const { out } = await validate({ 'config.toml': CUSTOM, 'drain.yaml': 'spec: { id: 9007199254740993 }\n' });
    expect(out).toContain('  id: 9007199254740993\n');
  });

  it('takes another template and event', async () => {
    const files = {
      'config.toml': CUSTOM,
      'other.tpl': 'spec: { node: {{ .HealthEvent.NodeName }} }\n',
      'event.json': '{ "id": "e1", "nodeName": "n9" }',
    };
    const { code, out } = await validate(files, ['config.toml'], { template: 'other.tpl', event: 'event.json' });
    expect(code).toBe(0);
    expect(out).toContain('name: drain-n9-e1');
    expect(out).toContain('node: n9');
  });

  it('says line and column of what is wrong with a template', async () => {
    const files = { 'config.toml': CUSTOM, 'drain.yaml': 'a: 1\nb: {{ .HealthEvent.NodeNmae }}\n' };
    const { code, out } = await validate(files);
    expect(code).toBe(1);
    expect(out).toContain('drain.yaml:2:19: error: template: drain-template:2:18: executing');
    expect(out).toContain("can't evaluate field NodeNmae");
  });

  it('says what an event makes of a template', async () => {
    const files = {
      'config.toml': CUSTOM,
      'drain.yaml': 'reason: "{{ .HealthEvent.Message }}"\n',
      'event.yaml': 'id: e1\nnodeName: n\nmessage: \'a "b" c\'\n',
    };
    const { code, out } = await validate(files, ['config.toml'], { event: 'event.yaml' });
    expect(code).toBe(1);
    expect(out).toContain('drain.yaml:1: error: the rendered text is not YAML');
  });

  it('finds a missing template', async () => {
    expect((await validate({ 'config.toml': CUSTOM })).out).toContain(
      'config.toml:3:20: error: customDrain.templateFileName: the ConfigMap has no key "drain.yaml"',
    );
  });

  it('reads a ConfigMap, with lines of its own file', async () => {
    const indented = BAD_RULE.replaceAll(/^/gm, '    ').trimEnd();
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: curfew-config }\ndata:\n  config.toml: |\n${indented}\n`;
    expect((await validate({ 'cm.yaml': text })).out).toContain(`cm.yaml:8:12: ${UNKNOWN_MODE}`);
  });

  it('checks policies by their definition and by what reads them', async () => {
    const { code, out } = await validate({
      'policy.yaml': POLICY(
        '  mode: Enforced\n  repair:\n    policies:\n      - { conditionType: Ready, toleration: 4d }\n  repiar: {}\n',
      ),
      'policies.yaml': `apiVersion: v1\nkind: List\nitems:\n  - ${POLICY('  mode: Observe\n').replaceAll('\n', '\n    ').trimEnd()}\n`,
    });
    expect(code).toBe(1);
    expect(out).toContain('policies.yaml: NodeLifecyclePolicy edge is valid, with 1 note');
    expect(out).toContain(
      'policy.yaml:5:9: error: spec.mode: must be one of Enforce, Observe, not "Enforced", did you mean "Enforce"?',
    );
    expect(out).toContain(
      'policy.yaml:8:45: error: spec.repair.policies[0].toleration: must be a duration such as 24h, 10m or 1h30m, not "4d": there is no unit "d"',
    );
    expect(out).toContain('policy.yaml:9:3: error: spec.repiar: unknown field, did you mean "repair"?');
  });

  it.each([
    [
      'repair: { toleration: 5m }',
      'spec.repair.toleration: unknown field; there are defaultTolerationDuration, policies, ',
    ],
    ['repair: { defaultTolerationDuration: 30 }', 'must be a duration such as 24h, 10m or 1h30m, not 30\n'],
    [
      'repair: { defaultTolerationDuration: 5 minutes }',
      'must be a duration such as 24h, 10m or 1h30m, not "5 minutes": there is no unit " minutes"\n',
    ],
    [
      'repair: { defaultTolerationDuration: 9999999h }',
      'must be a duration of at most 2562047h, 292 years, not "9999999h"\n',
    ],
  ])('says of %s what to write instead', async (spec, message) => {
    expect((await validate({ 'policy.yaml': POLICY(`  ${spec}\n`) })).out).toContain(message);
  });

  it('finds a custom finalizer of a NodePool that cannot be one', async () => {
    const { code, out } = await validate({
      'pool.yaml':
        'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: p }\nspec:\n  disruption: { customFinalizerName: bad }\n',
    });
    expect(code).toBe(1);
    expect(out).toContain(
      'pool.yaml:5:38: error: spec.disruption.customFinalizerName: must be a domain and a name, as in',
    );
  });

  it('names a field of a NodePool that nobody reads at its own place', async () => {
    const { out } = await validate({
      'pool.yaml':
        'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: p }\nspec:\n  repair:\n    maxUnhealty: 5\n    policies: [{ conditionType: Ready, conditionStatus: "False", when: now, toleration: 5m }]\n',
    });
    expect(out.split('\n').filter(line => line.includes('error: '))).toEqual([
      'pool.yaml:6:5: error: spec.repair.maxUnhealty: unknown field, did you mean "maxUnhealthy"?',
      'pool.yaml:7:40: error: spec.repair.policies[0].conditionStatus: unknown field, did you mean "conditionType"?',
      expect.stringMatching(/^pool.yaml:7:66: error: spec.repair.policies\[0\].when: unknown field; there are /),
    ]);
  });

  it.each([
    [
      'kind: NodeLifecyclePolicy\nmetadata: { name: a }\nspec: {}\n',
      'a.yaml:1:7: error: apiVersion: is missing; of a NodeLifecyclePolicy it must be curfew.dev/v1alpha1',
    ],
    ['kind: Scenario\n', 'a.yaml:1:7: error: apiVersion: is missing; of a Scenario it must be curfew.dev/v1alpha1'],
    [
      'a: 1\napiVersion: curfew.dev/v1alpha1\n',
      'a.yaml:2:13: error: kind: is missing; it must be one of NodeLifecyclePolicy, FinalizerRule, Scenario',
    ],
  ])('passes over no object of ours that is half named: %j', async (text, message) => {
    const { code, out } = await validate({ 'a.yaml': text });
    expect(code).toBe(1);
    expect(out).toContain(message);
  });

  it.each([
    ['{ name: curfew-config, namespace: kube-system }', 'warning'],
    ['{ name: curfew-config, namespace: curfew }', undefined],
    ['{ name: curfew-config }', undefined],
    ['{ name: node-drainer, namespace: nvsentinel }', 'note'],
    ['{ name: curfew-confg, namespace: curfew }', 'warning'],
  ])('says of a configuration in ConfigMap %s whether Curfew reads it: %s', async (metadata, severity) => {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: ${metadata}\ndata:\n  config.toml: |\n    maxEventAge = "1h"\n`;
    const { code, out } = await validate({ 'cm.yaml': text });
    expect(code).toBe(0);
    const [, said] =
      /^cm.yaml:3:\d+: (\w+): metadata(?:\.\w+)?: .*Curfew reads ConfigMap curfew\/curfew-config/m.exec(out) ?? [];
    expect(said).toBe(severity);
  });

  it('warns of a hook or clean-up whose event asks Curfew itself for a drain', async () => {
    const rule = (detailType: string): string =>
      `apiVersion: curfew.dev/v1alpha1\nkind: FinalizerRule\nmetadata: { name: r }\nspec:\n  version: v1\n  kind: ConfigMap\n  finalizerName: a.example/f\n  cleanup: { event: { detailType: ${detailType} } }\n`;
    const { code, out } = await validate({
      'a.yaml': rule('DrainRequested'),
      'b.yaml': rule('Cleanup').replace('name: r', 'name: s').replace('kind: ConfigMap', 'kind: Secret'),
      'c.yaml': POLICY(
        '  termination:\n    builtin: Replace\n    hooks:\n      - { name: a, at: before-drain, event: { detailType: Mine } }\n      - { name: b, at: before-drain, event: { detailType: HealthEvent } }\n',
      ),
    });
    expect(code).toBe(0);
    expect(out.split('\n').filter(line => line.includes('warning: '))).toEqual([
      'a.yaml:8:35: warning: spec.cleanup.event.detailType: DrainRequested asks Curfew for a drain: it cannot read this event as one, and parks it. Choose another name',
      'c.yaml:9:59: warning: spec.termination.hooks[1].event.detailType: HealthEvent asks Curfew for a drain: it cannot read this event as one, and parks it. Choose another name',
    ]);
  });

  it.each([
    [
      'nodePoolSelector: { matchLabels: { karpenter.sh/nodepool: web } }',
      'nodePoolSelector.matchLabels["karpenter.sh/nodepool"]',
      'karpenter.sh/nodepool',
    ],
    [
      'nodePoolSelector: { matchExpressions: [{ key: topology.kubernetes.io/zone, operator: Exists }] }',
      'nodePoolSelector.matchExpressions[0].key',
      'topology.kubernetes.io/zone',
    ],
    ['nodePoolSelector: { matchLabels: { team: web } }', undefined, ''],
  ])('warns of %s only where nodes alone have the label', async (selector, path, label) => {
    const { code, out } = await validate({ 'a.yaml': POLICY(`  ${selector}\n  mode: Enforce\n  repair: {}\n`) });
    expect(code).toBe(0);
    expect(
      out
        .split('\n')
        .filter(line => line.includes('warning: '))
        .map(line => line.replace(/^.*warning: /, '')),
    ).toEqual(
      path === undefined
        ? []
        : [
            `spec.${path}: ${label} is a label of nodes: Curfew compares the labels of NodePools, so give these one of their own`,
          ],
    );
  });

  it.each([
    [
      'termination: { scope: None, terminationGracePeriod: 1h }',
      'termination.terminationGracePeriod: has no effect: scope is None',
    ],
    [
      'termination: { builtin: Replace, hooks: [{ name: a, at: before-drain, event: { detailType: A }, deadline: 5m, heartbeat: 1h }] }',
      'termination.hooks[0].heartbeat: has no effect: the deadline comes first',
    ],
    [
      'repair: { conditions: [{ type: Ready, status: "True", toleration: 5m }] }',
      'repair.conditions[0]: Ready=True is a node that is well: each one is repaired',
    ],
    [
      'protection: { namespaces: [{ name: "ci-*", maxDuration: 4h }] }',
      'protection.namespaces[0].name: no namespace has the name "ci-*": the entry has no effect',
    ],
    ['termination: { scope: None, finalizerName: example.com/custom }', undefined],
    ['repair: { conditions: [{ type: Ready, status: "False", toleration: 5m }] }', undefined],
    ['protection: { namespaces: [{ name: ci, maxDuration: 4h }] }', undefined],
  ])('warns of %s: %s', async (block, message) => {
    const { code, out } = await validate({ 'a.yaml': POLICY(`  mode: Enforce\n  nodePoolSelector: {}\n  ${block}\n`) });
    expect(code).toBe(0);
    const warnings = out.split('\n').flatMap(line => /^.*warning: spec\.(.*)$/.exec(line)?.[1] ?? []);
    expect(warnings).toEqual(message === undefined ? [] : [message]);
  });

  it('says once of a status without quotes how to write it', async () => {
    const { out } = await validate({
      'a.yaml': POLICY(
        '  mode: Enforce\n  nodePoolSelector: {}\n  repair:\n    conditions: [{ type: DiskSlow, status: true, toleration: 20m }]\n',
      ),
    });
    expect(out.split('\n').filter(line => line.includes('error: '))).toEqual([
      expect.stringMatching(
        /spec\.repair\.conditions\[0\]\.status: must be one of True, False, Unknown, not true: write "True", with the quotes$/,
      ),
    ]);
  });

  it('warns of a veto against repair that nobody can read, wherever it stands', async () => {
    const veto = (value: string): string => `annotations: { curfew.dev/do-not-repair: ${value} }`;
    const { code, out } = await validate({
      'nodes.yaml': ['"yes"', 'true', '"true"', '"2026-01-01T00:00:00Z"']
        .map((value, index) => `apiVersion: v1\nkind: Node\nmetadata: { name: n${index}, ${veto(value)} }\n`)
        .join('---\n'),
      'pool.yaml': `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: p, ${veto('tomorrow')} }\nspec:\n  template: { metadata: { ${veto('"false"')} }, spec: { nodeClassRef: { group: a, kind: b, name: c }, requirements: [] } }\n`,
    });
    expect(code).toBe(0);
    const path = 'metadata.annotations["curfew.dev/do-not-repair"]';
    const holds = 'holds until it is removed: it must be "true" or an RFC 3339 instant, not';
    expect(
      out
        .split('\n')
        .filter(line => line.includes('warning: '))
        .map(line => line.replace(/^.*warning: /, '')),
    ).toEqual([
      `${path}: ${holds} "yes"`,
      `${path}: must be text, not true: write "true", with the quotes`,
      `${path}: ${holds} "tomorrow"`,
      `spec.template.${path}: ${holds} "false"`,
    ]);
  });

  it('warns of a duration of less than a second, wherever it stands', async () => {
    const blocks = [
      'repair: { defaultTolerationDuration: 10ms, policies: [{ conditionType: Ready, toleration: 0s }], actions: [{ type: Reboot, timeout: 20us }, { type: Terminate }] }',
      'protection: { maxDuration: 1h }',
      'drain: { deadline: 500ms }',
    ];
    const { code, out } = await validate({
      'a.yaml': POLICY(
        `  mode: Enforce\n  nodePoolSelector: { matchLabels: { latency: 10ms } }\n  ${blocks.join('\n  ')}\n`,
      ),
    });
    expect(code).toBe(0);
    expect(
      out
        .split('\n')
        .filter(line => line.includes('warning: '))
        .map(line => line.replace(/^.*warning: /, '')),
    ).toEqual([
      'spec.repair.defaultTolerationDuration: 10ms is less than a second: minutes are m, seconds s',
      'spec.repair.actions[0].timeout: 20us is less than a second: minutes are m, seconds s',
      'spec.drain.deadline: 500ms is less than a second: minutes are m, seconds s',
    ]);
  });

  it('finds a configuration under a key that is nearly the right one', async () => {
    const { code, out } = await validate({
      'config.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: curfew-config }\ndata:\n  config.tml: |\n    a = 1\n',
    });
    expect(code).toBe(1);
    expect(out).toContain('config.yaml:5:3: error: data["config.tml"]: unknown key, did you mean "config.toml"?');
  });

  it('reads the standard input for -, as kubectl does', () => {
    const input = POLICY('  mode: nope\n');
    const { stdout, status } = spawnSync(process.execPath, ['cli/curfew.ts', 'validate', '-'], {
      input,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stdout).toContain('-:5:9: error: spec.mode: must be one of Enforce, Observe, not "nope"\n');
  });

  it('finds limits that are none, and limits where nobody reads them', async () => {
    const { code, out } = await validate({
      'policy.yaml': POLICY('  repairLimits: { maxConcurrentRepairsPerZone: 150% }\n'),
      'pool.yaml':
        'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: p }\nspec: { repairLimits: { maxConcurrentRepairsPerZone: 1 } }\n',
    });
    expect(code).toBe(1);
    expect(out).toContain('spec.repairLimits.maxConcurrentRepairsPerZone: must be a whole number that');
    expect(out).toContain(
      'pool.yaml:4:9: error: spec.repairLimits: only a NodeLifecyclePolicy limits zones and the cluster',
    );
  });

  it.each([
    [
      'defaultTolerationDuration: 1d',
      'defaultTolerationDuration: must be a duration such as 24h, 10m or 1h30m, not "1d": there is no unit "d"',
    ],
    [
      'zoneOutage: 5',
      'zoneOutage: must be "Off", or minNodes (a whole number from 1 on) and share (a percentage from "0%" to "100%"), not 5',
    ],
    [
      'freeze: true',
      'freeze: must be "Off", or minNodes (a whole number from 1 on) and share (a percentage from "0%" to "100%"), not true',
    ],
    [
      'maxUnhealthy: 1.5',
      'maxUnhealthy: must be a whole number that is not negative, or a percentage from "0%" to "100%", not 1.5',
    ],
    ['actions: [{ type: Reboot, timeout: 0s }]', 'actions[0].timeout: must be positive, not "0s"'],
  ])('%s: once, in words and not as a pattern', async (field, fault) => {
    const { out } = await validate({ 'policy.yaml': POLICY(`  repair:\n    ${field}\n`) });
    expect(out.split('\n')[0]?.replace(/:6:\d+: /, ':6: ')).toBe(`policy.yaml:6: error: spec.repair.${fault}`);
    expect(out).toContain('1 error in 1 checked');
  });

  it('finds a condition type that nothing watches, with the nearest one that something does', async () => {
    const types = '  repair: { policies: [{ conditionType: NetworkUnavailabel, toleration: 10m }] }\n';
    const { code, out } = await validate({ 'policy.yaml': POLICY(types) });
    expect(code).toBe(1);
    expect(out).toContain(
      'policy.yaml:5:41: error: spec.repair.policies[0].conditionType: no rule watches "NetworkUnavailabel", this has no effect; did you mean NetworkUnavailable?',
    );
  });

  it('checks scenarios, and passes over what is none of its own in a folder', async () => {
    const { code, out } = await validate({
      'good.yaml': SCENARIO('duration: 1h'),
      'sub/bad.yaml': SCENARIO('duraton: 1h'),
      'pod.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n',
      'package.json': '{}',
      'readme.md': '# x',
      'chart.yaml': 'a: {{ .Values.x }}\n',
    });
    expect(code).toBe(1);
    expect(out).toContain('good.yaml: Scenario s is valid');
    expect(out).toContain('sub/bad.yaml:6:3: error: spec.duraton: unknown field');
    expect(out).toContain('in 2 checked');
  });

  it.each([
    ['curfew.dev/v1alpha1', 'NodeLifecylePolicy', 'kind', ', did you mean "curfew.dev/v1alpha1 NodeLifecyclePolicy"?'],
    ['curfew.dev/v1alpha2', 'FinalizerRule', 'apiVersion', ', did you mean "curfew.dev/v1alpha1 FinalizerRule"?'],
    [
      'curfew.de/v1alpha1',
      'NodeLifecyclePolicy',
      'apiVersion',
      ', did you mean "curfew.dev/v1alpha1 NodeLifecyclePolicy"?',
    ],
    ['lifecycle.example.com/v1', 'FinalizerRule', 'apiVersion', ', did you mean "curfew.dev/v1alpha1 FinalizerRule"?'],
    ['curfew.dev/v1alpha1', 'Scenaro', 'kind', ', did you mean "curfew.dev/v1alpha1 Scenario"?'],
    ['karpenter.sh/v1', 'Nodepool', 'kind', ', did you mean "karpenter.sh/v1 NodePool"?'],
    ['curfew.dev/v1alpha1', 'Anything', 'kind', ''],
  ])('finds %s %s among other objects: nobody would read it', async (apiVersion, kind, place, hint) => {
    const typo = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: p }\nspec: {}\n`;
    const { code, out } = await validate({ 'all.yaml': `${POLICY('  mode: Observe\n')}---\n${typo}` });
    const at = place === 'kind' ? '8:7' : '7:13';
    const said = `all.yaml:${at}: error: ${place}: there is no ${apiVersion} ${kind}${hint}`;
    expect([code, out.split('\n')]).toEqual([1, expect.arrayContaining([said])]);
  });

  it('prints JSON', async () => {
    const { code, out } = await validate({ 'config.toml': BAD_RULE }, ['config.toml'], { output: 'json' });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      checked: [
        {
          file: 'config.toml',
          kind: 'Configuration',
          findings: [{ line: 3, column: 8, path: 'userNamespaces[0].mode', severity: 'error' }],
        },
      ],
    });
  });

  it.each<[string, Record<string, string>, string[], string]>([
    ['a missing file', {}, ['nope.yaml'], 'nope.yaml: there is no such file\n'],
    ['an empty folder', { 'a.txt': '' }, ['.'], 'the folder holds no .yaml, .yml, .json or .toml file\n'],
  ])('%s is a mistake of the command line', async (_, files, paths, message) => {
    const { code, out, error } = await validate(files, paths);
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain(message);
  });

  it('an event that is none is a mistake of the command line', async () => {
    const files = { 'config.toml': CUSTOM, 'drain.yaml': TEMPLATE, 'event.json': '{ "id": "e1" }' };
    const { code, error } = await validate(files, ['config.toml'], { event: 'event.json' });
    expect([code, error]).toEqual([2, 'event.json: detail.nodeName: is missing, string expected\n']);
  });

  it.each([
    ['[', '['.repeat(10_000)],
    ['binary', '\0\u0001'],
    [
      'an anchor bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((key, i) => `${key}: &${key} [${`*${'abcdefgh'[i]},`.repeat(9)}]`)
        .join('\n')}\n`,
    ],
    ['a loop', 'spec: &a { repair: *a }\n'],
    ['nothing', ''],
  ])('a file of %s is a fault, not a crash', async (_, text) => {
    const { code, out } = await validate({ 'file.yaml': text }, ['file.yaml']);
    expect(code).toBe(1);
    expect(out.split('\n').filter(line => line.startsWith('file.yaml:1:'))).toHaveLength(1);
    expect(out).toContain('1 error in 1 checked\n');
  });

  it('every scenario of the examples is valid', async () => {
    const { code, stdout } = await runCurfew(['validate', 'examples/scenarios', 'deploy']);
    expect(stdout).not.toMatch(/errors?\b.* in \d+ checked/);
    expect(code).toBe(0);
  });
});
