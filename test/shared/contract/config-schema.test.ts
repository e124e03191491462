import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { formatConfigFaults, parseConfig, readConfig } from '../../../shared/contract/config-schema.ts';
import type { DrainSettings } from '../../../shared/domain/drain-settings.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { anyText } from '../../builders/any-text.ts';

function settingsOf(text: string): DrainSettings | undefined {
  const parsed = parseConfig(text);
  if (!parsed.ok) throw new Error(formatConfigFaults(parsed.faults));
  return parsed.value.drain;
}

function complaintsOf(text: string): string[] {
  const parsed = parseConfig(text);
  if (parsed.ok) throw new Error('it is valid');
  return parsed.faults.map(fault => formatConfigFaults([fault]));
}

const CUSTOM = `[customDrain]
enabled = true
templateMountPath = "/etc/drain-templates"
templateFileName = "drain-template.yaml"
namespace = "nvsentinel"
apiGroup = "nvsentinel.nvidia.com"
version = "v1alpha1"
kind = "DrainRequest"
timeout = "3600s"
statusConditionType = "DrainComplete"
statusConditionStatus = "True"
`;

describe("NVSentinel's configuration", () => {
  it('is read with its defaults where it says nothing', () => {
    expect(settingsOf('drainGPUPods = false')).toEqual({
      systemNamespaces: '',
      evictionGracePeriod: undefined,
      deleteAfterTimeout: minutes(60),
      notReadyTimeout: minutes(5),
      gpuPodsOnly: false,
      partialDrain: false,
      partialDrainEntityMetric: false,
      namespaceModes: [],
      podDrainPolicies: [],
      customDrain: undefined,
    });
  });

  it('is read key by key', () => {
    const text = `
evictionTimeoutInSeconds = "60"
systemNamespaces = "^(nvsentinel|kube-system|gpu-operator|gmp-system|network-operator|skyhook)$"
deleteAfterTimeoutMinutes = 30
notReadyTimeoutMinutes = 7
drainGPUPods = true
partialDrainEnabled = true
partialDrainEntityMetricEnabled = true

[[userNamespaces]]
name = "*"
mode = "AllowCompletion"

[[userNamespaces]]
name = "batch-*"
mode = "Immediate"
`;
    expect(settingsOf(text)).toEqual({
      systemNamespaces: '^(nvsentinel|kube-system|gpu-operator|gmp-system|network-operator|skyhook)$',
      evictionGracePeriod: seconds(60),
      deleteAfterTimeout: minutes(30),
      notReadyTimeout: minutes(7),
      gpuPodsOnly: true,
      partialDrain: true,
      partialDrainEntityMetric: true,
      namespaceModes: [
        { name: '*', mode: 'AllowCompletion' },
        { name: 'batch-*', mode: 'Immediate' },
      ],
      podDrainPolicies: [],
      customDrain: undefined,
    });
  });

  it("holds the design's example", () => {
    const text = `systemNamespaces = "^(kube-system|gpu-operator)"\n${CUSTOM.replace('enabled = true', 'enabled = false')}`;
    expect(settingsOf(text)?.customDrain).toBeUndefined();
    expect(settingsOf(CUSTOM)?.customDrain).toEqual({
      nodeSelector: '',
      templateFileName: 'drain-template.yaml',
      namespace: 'nvsentinel',
      apiGroup: 'nvsentinel.nvidia.com',
      version: 'v1alpha1',
      kind: 'DrainRequest',
      resource: undefined,
      timeout: seconds(3600),
      statusConditionType: 'DrainComplete',
      statusConditionStatus: 'True',
      failedConditionType: 'DrainFailed',
      heartbeat: undefined,
      fallbackMode: undefined,
    });
  });

  it('holds pod drain policies in order, with every namespace as the default', () => {
    const text = `[[podDrainPolicies]]\nname = "a"\npodSelector = "app=x"\nmode = "Immediate"\n`;
    expect(settingsOf(text)?.podDrainPolicies).toEqual([
      { name: 'a', namespace: '*', podSelector: 'app=x', mode: 'Immediate' },
    ]);
  });

  it.each([
    ['"3600s"', 3600],
    ['"3600"', 3600],
    ['"30m"', 1800],
    ['3600', 3600],
    ['"1h30m"', 5400],
  ])('takes %s as a duration', (text, expected) => {
    const settings = settingsOf(CUSTOM.replace('"3600s"', text));
    expect(settings?.customDrain?.timeout).toBe(seconds(expected));
    expect(settingsOf(`evictionTimeoutInSeconds = ${text}`)?.evictionGracePeriod).toBe(seconds(expected));
  });

  it('reads 0 minutes as the default, as NVSentinel does', () => {
    const settings = settingsOf('deleteAfterTimeoutMinutes = 0\nnotReadyTimeoutMinutes = 0\n');
    expect([settings?.deleteAfterTimeout, settings?.notReadyTimeout]).toEqual([minutes(60), minutes(5)]);
  });

  it('keeps the built-in modes for the nodes that a custom drain leaves out', () => {
    const text = CUSTOM.replace('enabled = true', 'enabled = true\nnodeSelector = "scheduler=slurm"');
    const settings = settingsOf(`${text}[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n`);
    expect(settings?.customDrain?.nodeSelector).toBe('scheduler=slurm');
    expect(settings?.namespaceModes).toHaveLength(1);
  });

  it.each(['', '  '])(
    'has a custom drain for all nodes with %j as the selector, and no rules beside it (NV64, NV67)',
    selector => {
      const text = CUSTOM.replace('enabled = true', `enabled = true\nnodeSelector = "${selector}"`);
      expect(settingsOf(text)?.customDrain?.nodeSelector).toBe('');
      expect(complaintsOf(`${text}[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n`)).toEqual([
        'line 2: customDrain.enabled: cannot use both customDrain.enabled=true and userNamespaces configuration unless customDrain.nodeSelector is set',
      ]);
    },
  );

  it('asks nothing of a custom drain that is off', () => {
    expect(
      settingsOf('[customDrain]\nenabled = false\n[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n'),
    ).toBeDefined();
  });
});

describe('what is refused names line and key', () => {
  const rule = (line: string): string => `[[userNamespaces]]\n${line}\n`;
  const policy = (...lines: string[]): string => `[[podDrainPolicies]]\n${lines.join('\n')}\n`;

  it.each<[string, string, string]>([
    [
      'a misspelt table',
      '\n[featuregates]\nnodeRepair = true\n',
      'line 2: featuregates: unknown table, did you mean "featureGates"?',
    ],
    [
      'a table in the singular',
      '[featureGate]\nnodeRepair = true\n',
      'line 1: featureGate: unknown table, did you mean "featureGates"?',
    ],
    [
      'a misspelt gate',
      '[featureGates]\nnodeRepiar = true\n',
      'line 2: featureGates.nodeRepiar: unknown key, did you mean "nodeRepair"?',
    ],
    [
      'a misspelt key',
      'systemNamespace = ""\n',
      'line 1: systemNamespace: unknown key, did you mean "systemNamespaces"?',
    ],
    [
      'a misspelt key of a rule',
      rule('name = "*"\nmode = "Immediate"\nmod = "x"'),
      'line 4: userNamespaces[0].mod: unknown key, did you mean "mode"?',
    ],
    ['an unknown key', 'frobnicate = 1\n', 'line 1: frobnicate: unknown key'],
    ['a key that every object has', 'constructor = 1\n', 'line 1: constructor: unknown key'],
    [
      'an unknown mode',
      rule('name = "*"\nmode = "immediate"'),
      'line 3: userNamespaces[0].mode: unknown mode "immediate", did you mean "Immediate"?; modes are Immediate, DeleteAfterTimeout, AllowCompletion',
    ],
    [
      'a bad glob',
      rule('name = "[a"\nmode = "Immediate"'),
      'line 2: userNamespaces[0].name: syntax error in pattern "[a"',
    ],
    ['an empty glob', rule('name = ""\nmode = "Immediate"'), 'line 2: userNamespaces[0].name: must not be empty'],
    ['a missing mode', rule('name = "*"'), 'line 1: userNamespaces[0].mode: is missing, string expected'],
    [
      'a lookahead',
      'systemNamespaces = "^(?=a)"\n',
      'line 1: systemNamespaces: "^(?=a)" is not an RE2 regular expression: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
    [
      'a timeout',
      CUSTOM.replace('3600s', '3600 s'),
      'line 9: customDrain.timeout: must be a duration such as "3600s", "1h" or "3600", got "3600 s"',
    ],
    ['no time at all', CUSTOM.replace('3600s', '0'), 'line 9: customDrain.timeout: must be positive, got "0"'],
    [
      'a negative grace period',
      'evictionTimeoutInSeconds = "-1s"\n',
      'line 1: evictionTimeoutInSeconds: must be positive, got "-1s"',
    ],
    [
      'negative minutes',
      'deleteAfterTimeoutMinutes = -1\n',
      'line 1: deleteAfterTimeoutMinutes: Too small: expected number to be >=0',
    ],
    [
      'half minutes',
      'notReadyTimeoutMinutes = 0.5\n',
      'line 1: notReadyTimeoutMinutes: Invalid input: expected int, received number',
    ],
    [
      'both drains',
      `${CUSTOM}${rule('name = "*"\nmode = "Immediate"')}`,
      'line 2: customDrain.enabled: cannot use both customDrain.enabled=true and userNamespaces configuration unless customDrain.nodeSelector is set',
    ],
    [
      'both drains, by pod',
      `${CUSTOM}${policy('name = "a"', 'podSelector = "a"', 'mode = "Immediate"')}`,
      'line 2: customDrain.enabled: cannot use both customDrain.enabled=true and podDrainPolicies configuration unless customDrain.nodeSelector is set',
    ],
    [
      'nodes for nobody',
      CUSTOM.replace('enabled = true', 'enabled = true\nnodeSelector = "a=b"'),
      'line 3: customDrain.nodeSelector: leaves nodes to the built-in modes: userNamespaces or podDrainPolicies is required beside it',
    ],
    [
      'a bad node selector',
      `${CUSTOM.replace('enabled = true', 'enabled = true\nnodeSelector = "a in b"')}${rule('name = "*"\nmode = "Immediate"')}`,
      'line 3: customDrain.nodeSelector: expected "(" after in or notin',
    ],
    [
      'a missing template',
      CUSTOM.replace('templateFileName = "drain-template.yaml"\n', ''),
      'line 1: customDrain.templateFileName: is required when customDrain.enabled=true',
    ],
    [
      'the configuration as its template',
      CUSTOM.replace('drain-template.yaml', 'config.toml'),
      'line 4: customDrain.templateFileName: config.toml is this configuration',
    ],
    [
      'a kind that is none',
      CUSTOM.replace('"DrainRequest"', '"drainrequests"'),
      'line 8: customDrain.kind: "drainrequests" is not a kind',
    ],
    [
      'text for a boolean',
      'drainGPUPods = "yes"\n',
      'line 1: drainGPUPods: Invalid input: expected boolean, received string',
    ],
    [
      'a number for a pattern',
      'systemNamespaces = 7\n',
      'line 1: systemNamespaces: Invalid input: expected string, received number',
    ],
    [
      'text for minutes',
      'notReadyTimeoutMinutes = "5"\n',
      'line 1: notReadyTimeoutMinutes: Invalid input: expected number, received string',
    ],
    [
      'a table for a list',
      '[userNamespaces]\nname = "*"\n',
      'line 1: userNamespaces: Invalid input: expected array, received object',
    ],
    [
      'text for the switch',
      CUSTOM.replace('= true', '= "true"'),
      'line 2: customDrain.enabled: Invalid input: expected boolean, received string',
    ],
    [
      'a namespace that is none',
      CUSTOM.replace('"nvsentinel"', '"NVSentinel"'),
      'line 5: customDrain.namespace: "NVSentinel" is not a namespace',
    ],
    [
      'a group that is none',
      CUSTOM.replace('"nvsentinel.nvidia.com"', '"nvsentinel/v1"'),
      'line 6: customDrain.apiGroup: "nvsentinel/v1" is not an API group',
    ],
    [
      'a version that is none',
      CUSTOM.replace('"v1alpha1"', '"1"'),
      'line 7: customDrain.version: "1" is not an API version',
    ],
    [
      'a heartbeat',
      `${CUSTOM}heartbeat = "often"\n`,
      'line 12: customDrain.heartbeat: must be a duration such as "3600s", "1h" or "3600", got "often"',
    ],
    [
      'a fallback mode',
      `${CUSTOM}fallbackMode = "Force"\n`,
      'line 12: customDrain.fallbackMode: unknown mode "Force"; modes are Immediate, DeleteAfterTimeout, AllowCompletion',
    ],
    [
      'an empty condition of failure',
      `${CUSTOM}failedConditionType = ""\n`,
      'line 12: customDrain.failedConditionType: Too small: expected string to have >=1 characters',
    ],
    [
      'a misspelt key of the custom drain',
      CUSTOM.replace('timeout', 'timeOut'),
      'line 9: customDrain.timeOut: unknown key, did you mean "timeout"?',
    ],
    [
      'both lists of rules',
      `${rule('name = "*"\nmode = "Immediate"')}${policy('name = "a"', 'podSelector = "a"', 'mode = "Immediate"')}`,
      'line 4: podDrainPolicies: cannot use both userNamespaces and podDrainPolicies configuration',
    ],
    [
      'a policy without a selector',
      policy('name = "a"', 'podSelector = " "', 'mode = "Immediate"'),
      'line 3: podDrainPolicies[0].podSelector: must not be empty; use userNamespaces for a fallback',
    ],
    [
      'NV69: a policy with a bad selector',
      policy('name = "a"', 'podSelector = "a in b"', 'mode = "Immediate"'),
      'line 3: podDrainPolicies[0].podSelector: expected "(" after in or notin',
    ],
    [
      'a policy with an unknown mode',
      policy('name = "a"', 'podSelector = "a"', 'mode = "Imediate"'),
      'line 4: podDrainPolicies[0].mode: unknown mode "Imediate", did you mean "Immediate"?; modes are Immediate, DeleteAfterTimeout, AllowCompletion',
    ],
    [
      'a policy without a name',
      policy('name = ""', 'podSelector = "a"', 'mode = "Immediate"'),
      'line 2: podDrainPolicies[0].name: Too small: expected string to have >=1 characters',
    ],
    [
      'a policy twice',
      policy('name = "a"', 'podSelector = "a"', 'mode = "Immediate"').repeat(2),
      'line 6: podDrainPolicies[1].name: must be unique, "a" stands above',
    ],
    [
      'a bad namespace of a policy',
      policy('name = "a"', 'namespace = "[a"', 'podSelector = "a"', 'mode = "Immediate"'),
      'line 3: podDrainPolicies[0].namespace: syntax error in pattern "[a"',
    ],
    [
      'text that is not TOML',
      '\n[featureGates\n',
      'line 2, column 14: Invalid TOML document: illegal character in key',
    ],
  ])('%s', (_, text, complaint) => {
    expect(complaintsOf(text)).toEqual([complaint]);
  });

  it('names every missing key of a custom drain', () => {
    expect(complaintsOf('[customDrain]\nenabled = true\n').map(text => text.split(': ')[1])).toEqual([
      'customDrain.templateFileName',
      'customDrain.namespace',
      'customDrain.apiGroup',
      'customDrain.version',
      'customDrain.kind',
      'customDrain.statusConditionType',
      'customDrain.statusConditionStatus',
    ]);
  });

  it.each([
    `a${'.a'.repeat(20_000)} = 1`,
    `[a${'.a'.repeat(20_000)}]`,
    `featureGates.nodeRepair${'.a'.repeat(20_000)} = 1`,
    `systemNamespaces${'.a'.repeat(20_000)} = 1`,
    `x = { a${'.a'.repeat(20_000)} = 1 }`,
  ])('a key of 20,000 dots', text => {
    expect(complaintsOf(text)).toEqual([expect.stringMatching(/^line 1: a key of 2000\d parts, at most 16 are read$/)]);
  });

  it('lists ten of many', () => {
    const text = Array.from({ length: 200 }, (_, index) => `key${index} = 1\n`).join('');
    const parsed = parseConfig(text);
    const message = parsed.ok ? '' : formatConfigFaults(parsed.faults);
    expect(message).toContain('line 10: key9: unknown key; and 190 more');
    expect(message.length).toBeLessThan(1000);
  });
});

describe('any text', () => {
  const word = fc.constantFrom(
    'featureGates',
    'nodeRepair',
    'customDrain',
    'userNamespaces',
    'mode',
    'name',
    'timeout',
    '"Immediate"',
    '"*"',
    'true',
    '1',
    '[',
    ']',
    '[[',
    ']]',
    '{',
    '}',
    '=',
    '.',
    ',',
    '\n',
    '"',
    "'",
    '#',
    ' ',
    '\\',
    '__proto__',
    'constructor',
  );
  it('is answered without throwing', () => {
    const texts = fc.oneof(
      fc.array(word).map(words => words.join('')),
      anyText(),
    );
    fc.assert(
      fc.property(texts, text => {
        const parsed = parseConfig(text);
        if (!parsed.ok) expect(parsed.faults[0]?.line).toBeGreaterThan(0);
      }),
      { numRuns: 10_000 },
    );
  });

  it('any valid TOML is answered without throwing', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.dictionary(fc.string(), fc.string())));
    const keys = fc.oneof(
      fc.constantFrom('featureGates', 'customDrain', 'userNamespaces', 'systemNamespaces'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.dictionary(keys, fc.oneof(value, fc.dictionary(keys, value))), content => {
        const parsed = parseConfig(stringify(content));
        if (!parsed.ok) for (const { line } of parsed.faults) expect(line).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe('readConfig', () => {
  it('reads again what was kept as JSON', () => {
    const text = `${CUSTOM.replace('enabled = true', 'enabled = true\nnodeSelector = "a=b"')}[[userNamespaces]]\nname = "x"\nmode = "Immediate"\n`;
    const parsed = parseConfig(text);
    if (!parsed.ok) throw new Error('it is valid');
    expect(readConfig(JSON.parse(JSON.stringify(parsed.content)))).toEqual(parsed.value);
    expect(readConfig({ frobnicate: 1 })).toBeUndefined();
    expect(readConfig(undefined)).toBeUndefined();
  });
});
