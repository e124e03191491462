/** Text that users write: never a crash, never a hang, and what is read is what stands there. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseProviderID } from '../../shared/adapters/ec2/instances.ts';
import { readConfiguration } from '../../shared/cluster/read-configuration.ts';
import { formatConfigFaults, parseConfig } from '../../shared/contract/config-schema.ts';
import { matchesFilePattern, parseFilePattern } from '../../shared/domain/file-match.ts';
import { formatGoDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import { parseLabelSelector, selectsLabels } from '../../shared/domain/label-selector-text.ts';
import { parseDoNotDisrupt } from '../../shared/domain/protection.ts';
import { parseTimestamp, toIsoText } from '../../shared/domain/time.ts';
import { TerminalError } from '../../shared/errors.ts';
import { hostileText, RUNS, assertEach } from './hostile.ts';
import { withoutStacks } from '../builders/without-stacks.ts';

withoutStacks();

const DURATIONS = ['1h30m', '3600s', '-1.5h', '0', '+5m', '2562047h47m16.854775807s', '4d', '.5s', '1us2µs3ns'];
const DURATION_TOKENS = [
  '1',
  '9',
  '0',
  '.',
  '-',
  '+',
  'h',
  'm',
  's',
  'ms',
  'µ',
  'μs',
  'ns',
  'd',
  '9223372036854775808',
];

const CONFIG = `
[featureGates]
nodeRepair = true
[customDrain]
enabled = true
nodeSelector = "a in (b, c), !d"
templateFileName = "drain.yaml"
timeout = "1h"
[[userNamespaces]]
name = "prod-*"
mode = "AllowCompletion"
[[podDrainPolicies]]
name = "gpu"
podSelector = "gpu=true"
mode = "Immediate"
`;
const RULES = `systemNamespaces = "^(kube|nvidia)-"
deleteAfterTimeoutMinutes = 60
userNamespaces = [ { name = 'a"', mode = "DeleteAfterTimeout" }, ]
# the end`;
const MARKS = `[ ] [[ ]] { } = , . " ' """ ''' # \\u0000 \\ a. "__proto__" 1e400 0x_ 2024-02-30 nan [userNamespaces]`;
const CONFIG_TOKENS = ['\n', '\r\n', '\uFEFF', 'mode = "Immediate"', 'constructor', ...MARKS.split(' ')];

describe(`in ${RUNS} cases`, () => {
  it('TOML is read, or refused with a line for each fault', () => {
    assertEach(hostileText([CONFIG, RULES], CONFIG_TOKENS), text => {
      const lines = text.split('\n').length;
      const parsed = parseConfig(text);
      if (parsed.ok) {
        const { drain, featureGates } = parsed.value;
        expect(typeof featureGates.nodeRepair).toBe('boolean');
        // Without a word about drains there are no rules of drains; else there are rules.
        expect(drain === undefined || typeof drain.systemNamespaces === 'string').toBe(true);
      } else {
        expect(parsed.faults.length).toBeGreaterThan(0);
        for (const { line } of parsed.faults) expect(line >= 1 && line <= lines).toBe(true);
        expect(formatConfigFaults(parsed.faults)).not.toBe('');
      }
    });
  });

  it('a ConfigMap with any template is read, or refused with a fault', () => {
    const custom = `[customDrain]
enabled = true
templateFileName = "t"
namespace = "n"
apiGroup = "g.example.com"
version = "v1"
kind = "K"
statusConditionType = "Done"
statusConditionStatus = "True"`;
    const template =
      'metadata: { name: x }\nspec:\n  node: {{ .HealthEvent.NodeName }}{{ range $k, $v := .PodsToDrain }}{{ end }}';
    const tokens = [
      '{{',
      '}}',
      '{{-',
      '-}}',
      '.',
      '$',
      '|',
      '"',
      '`',
      '(',
      ')',
      '{{range .}}',
      '{{end}}',
      '\n',
      ': ',
      '- ',
      '&a',
      '*a',
    ];
    assertEach(
      hostileText([template], tokens),
      text => {
        const read = readConfiguration({ 'config.toml': custom, t: text });
        if (!read.ok) expect(formatConfigFaults(read.faults)).toMatch(/line \d/);
      },
      RUNS / 10,
    );
  });

  it('a selector is read or refused, and a label that is not there does not exist', () => {
    const samples = ['a=b', 'a in (b,c),!d', 'x.y/z notin (1)', 'a>1,b<-5', 'constructor', '__proto__!=a', ''];
    const tokens = [
      '=',
      '==',
      '!=',
      '!',
      ',',
      '(',
      ')',
      'in',
      'notin',
      '<',
      '>',
      ' ',
      '/',
      'constructor',
      '__proto__',
      '-',
    ];
    assertEach(hostileText(samples, tokens), text => {
      const parsed = parseLabelSelector(text);
      if (!parsed.ok) return expect(parsed.message).not.toBe('');
      for (const requirement of parsed.requirements) {
        expect(selectsLabels([requirement], {})).toBe(['NotIn', 'DoesNotExist'].includes(requirement.operator));
      }
    });
  });

  it('a file pattern is read or refused, and matches or does not', () => {
    const patterns = hostileText(['prod-*', '[a-z]?', '\\*', '[^a]'], ['[', ']', '*', '?', '\\', '-', '^']);
    assertEach(fc.tuple(patterns, fc.constantFrom('prod-web', '', 'a-b', '*')), ([text, name]) => {
      const pattern = parseFilePattern(text);
      if (pattern !== undefined) expect(typeof matchesFilePattern(pattern, name)).toBe('boolean');
    });
  });

  it('a duration has 64 bits and is written as it was read, or is refused in the words of Go', () => {
    assertEach(hostileText(DURATIONS, DURATION_TOKENS), text => {
      const parsed = parseGoDuration(text);
      if (!parsed.ok) return expect(parsed.error).toMatch(/^time: /);
      expect(parsed.nanoseconds >= -(1n << 63n) && parsed.nanoseconds < 1n << 63n).toBe(true);
      expect(parseGoDuration(formatGoDuration(parsed.nanoseconds))).toEqual(parsed);
    });
  });

  it('a timestamp is the instant that it names, or none', () => {
    const samples = [
      '2024-02-29T23:59:59Z',
      '2024-01-31t00:00:00.123456789z',
      '2024-12-31T23:59:59+05:30',
      '2023-04-30T00:00:00Z',
    ];
    const tokens = [
      '0',
      '1',
      '2',
      '3',
      '6',
      '9',
      '-',
      ':',
      'T',
      'Z',
      'z',
      '+',
      '.',
      '24',
      '29',
      '30',
      '31',
      '60',
      '99',
      ',',
    ];
    const near = fc
      .tuple(fc.constantFrom('2024', '2023', '0000', '9999', '1900'), fc.nat(14), fc.nat(33), fc.nat(25), fc.nat(61))
      .map(([year, ...rest]) => {
        const [month, day, hour, minute] = rest.map(part => String(part).padStart(2, '0'));
        return `${year}-${month}-${day}T${hour}:${minute}:00Z`;
      });
    assertEach(fc.oneof(hostileText(samples, tokens), near), text => {
      const instant = parseTimestamp(text);
      if (instant === undefined) return;
      const written = toIsoText(instant);
      if (/z$/i.test(text)) expect(written.slice(0, 19)).toBe(text.slice(0, 19).toUpperCase());
      expect(parseTimestamp(written) ?? instant).toBe(instant);
    });
  });

  it('a do-not-disrupt annotation protects: without end, for a positive time, or as the rules treat what is not valid', () => {
    const compatibility = fc.constantFrom('Design', 'Karpenter');
    const values = hostileText([...DURATIONS, 'true', 'false', 'True', ''], ['true', ...DURATION_TOKENS]);
    assertEach(fc.tuple(values, compatibility), ([text, rules]) => {
      const asked = parseDoNotDisrupt(text, rules);
      if (asked.kind === 'limited') expect(asked.duration).toBeGreaterThan(0);
      if (asked.kind === 'indefinite') expect(text).toBe('true');
      if (asked.kind === 'invalid') expect(asked.effect).toBe(rules === 'Design' ? 'indefinite' : 'ignored');
    });
  });

  it('a provider ID names an EC2 instance, or is refused for good', () => {
    const samples = ['aws:///us-west-2a/i-0abc', 'aws:///us-east-1/fargate-ip-10-0-0-1', 'gce://p/z/n', 'i-0abc'];
    assertEach(hostileText(samples, ['aws:///', '/', 'i-', '0', 'f', 'g', '\n', ' ']), text => {
      try {
        const instanceId = parseProviderID(text);
        expect(instanceId).toMatch(/^i-[0-9a-f]+$/);
        expect(text.endsWith(`/${instanceId}`)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(TerminalError);
      }
    });
  });
});

describe('text as long as a ConfigMap or an annotation can be', () => {
  const LONG = 200_000;
  it.each([
    ['a key of 20,000 parts', `a${'.a'.repeat(20_000)} = 1`],
    ['a selector', `[customDrain]\nnodeSelector = "${'a,'.repeat(LONG)}"`],
    ['a regular expression', `systemNamespaces = "${'(a|b)*'.repeat(LONG / 6)}"`],
    ['brackets', `systemNamespaces = "${'('.repeat(LONG)}"`],
    ['arrays in arrays', `a = ${'['.repeat(LONG)}`],
    ['tables in tables', `a = ${'{a='.repeat(LONG / 3)}`],
    ['a pattern', `[[userNamespaces]]\nname = "${'[a-z]*'.repeat(LONG / 6)}"\nmode = "Immediate"`],
  ])('is refused at once: %s', (_, text) => {
    const parsed = parseConfig(text);
    if (parsed.ok) throw new Error('read');
    expect(formatConfigFaults(parsed.faults).length).toBeLessThan(2_000);
  });

  it('is a selector, too', () => {
    expect(parseLabelSelector('a,'.repeat(LONG))).toMatchObject({ ok: false });
    expect(parseLabelSelector(`a in (${'b,'.repeat(LONG)})`)).toMatchObject({ ok: true });
  });

  it.each(['1'.repeat(LONG), `${'1'.repeat(LONG)}s`, `0.${'0'.repeat(LONG)}s`, '1ns'.repeat(LONG / 3)])(
    'is a duration or none (%#)',
    text => {
      expect(typeof parseGoDuration(text).ok).toBe('boolean');
      expect(parseDoNotDisrupt(text, 'Design').kind).not.toBe('indefinite');
    },
  );
});
