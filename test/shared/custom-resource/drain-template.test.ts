import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SAMPLE_EVENT, SAMPLE_PODS } from '../../../shared/custom-resource/drain-sample.ts';
import {
  checkDrainTemplate,
  renderDrainResource,
  type RenderedResource,
} from '../../../shared/custom-resource/drain-template.ts';
import { formatConfigFaults, parseConfig } from '../../../shared/contract/config-schema.ts';
import type { HealthEvent } from '../../../shared/domain/health-event.ts';

const CONFIG = `[customDrain]
enabled = true
templateFileName = "drain.yaml"
namespace = "nvsentinel"
apiGroup = "nvsentinel.nvidia.com"
version = "v1alpha1"
kind = "DrainRequest"
statusConditionType = "DrainComplete"
statusConditionStatus = "True"
`;
const parsed = parseConfig(CONFIG);
const settings = parsed.ok ? parsed.value.drain?.customDrain : undefined;
if (settings === undefined) throw new Error('the configuration is valid');

const render = (template: string, event: Partial<HealthEvent> = {}): RenderedResource =>
  renderDrainResource(
    settings,
    template,
    { event: { ...SAMPLE_EVENT, ...event }, podsToDrain: SAMPLE_PODS },
    'drain-x',
  );

/** The template of the design, word for word. */
const DESIGN = readFileSync(new URL('../../fixtures/drain/design-template.yaml', import.meta.url), 'utf8');

describe("the design's template", () => {
  it('has no fault', () => {
    expect(checkDrainTemplate(DESIGN, 'drain.yaml')).toEqual([]);
  });

  it('renders what the design says', () => {
    expect(render(DESIGN)).toEqual({
      ok: true,
      manifest: {
        apiVersion: 'nvsentinel.nvidia.com/v1alpha1',
        kind: 'DrainRequest',
        metadata: { name: 'drain-x', namespace: 'nvsentinel' },
        spec: {
          nodeName: 'node-1',
          checkName: 'GpuMemWatch',
          recommendedAction: 'RESTART_BM',
          errorCode: [79],
          entitiesImpacted: [{ type: 'GPU_UUID', value: 'GPU-11111111-2222-3333-4444-555555555555' }],
          metadata: { providerID: 'aws:///us-west-2a/i-0123456789abcdef0' },
          reason: 'GPU 0 has fallen off the bus',
          podsToDrain: { default: ['web-0', 'web-1'], training: ['worker-0'] },
        },
        status: { conditions: [{ type: 'DrainComplete', status: 'False', reason: 'Pending' }] },
      },
    });
  });

  it('renders for every event of the vectors that NVSentinel fields make', () => {
    const event = fc.record({
      nodeName: fc.constantFrom('n1', 'ip-10-0-0-1.ec2.internal'),
      errorCode: fc.array(fc.constantFrom('79', 'DCGM_FR_X')),
      entitiesImpacted: fc.array(fc.constant({ entityType: 'PCI', entityValue: '0000:3b:00' })),
    });
    fc.assert(fc.property(event, fields => render(DESIGN, fields).ok));
  });
});

describe('a template with a fault', () => {
  it.each([
    ['does not parse', 'a: 1\nb: {{ if }}\n', 'drain.yaml line 2: '],
    ['calls a function of Helm', 'a: 1\nb: {{ toYaml .HealthEvent }}\n', 'function "toYaml" not defined'],
    [
      'names an unknown field',
      'a: 1\nb: {{ .HealthEvent.NodeNmae }}\n',
      'drain.yaml line 2, column 19: template: drain-template:2:18: executing "drain-template" at <.HealthEvent.NodeNmae>: can\'t evaluate field NodeNmae in type *protos.HealthEvent',
    ],
    ['names an unknown root', '{{ .EventId }}', "can't evaluate field EventId"],
    [
      'names an unknown field of an entity',
      '{{ range .HealthEvent.EntitiesImpacted }}{{ .Type }}{{ end }}',
      "can't evaluate field Type",
    ],
  ])('that %s is refused', (_, text, message) => {
    expect(formatConfigFaults(checkDrainTemplate(text, 'drain.yaml'))).toContain(message);
  });

  it('is refused where the sample does not come by', () => {
    const text =
      'a: 1\nb: {{ if eq .EventID "x" }}{{ .HealthEvent.Nope }}{{ end }}\nc: {{ .HealthEvent.Agent.Name }}\n';
    expect(checkDrainTemplate(text, 'drain.yaml').map(({ line, column }) => [line, column])).toEqual([
      [2, 43],
      [3, 19],
    ]);
  });

  it.each([
    ['a template that is not defined', '{{ template "body" . }}', 'template "body" not defined'],
    ['too few arguments', '{{ index }}', 'wrong number of args for index'],
    ['a method of two results', '{{ .HealthEvent.GeneratedTimestamp.AsTime.Date }}', 'has 3 return values'],
  ])('is refused for %s', (_, text, message) => {
    expect(formatConfigFaults(checkDrainTemplate(text, 'drain.yaml'))).toContain(message);
  });

  it('is not refused for what only some events make of it', () => {
    expect(checkDrainTemplate('{{ index .HealthEvent.ErrorCode 7 }}', 'drain.yaml')).toEqual([]);
  });
});

describe('rendering', () => {
  it.each<[string, string, string, string]>([
    [
      'a quote in the message',
      'reason: "{{ .HealthEvent.Message }}"',
      'RenderedYamlInvalid',
      'the rendered text is not YAML',
    ],
    [
      'an index past the end',
      'a: {{ index .HealthEvent.ErrorCode 7 }}',
      'TemplateNotExecuted',
      'index out of range: 7',
    ],
    ['a list', '- a', 'RenderedYamlInvalid', 'the rendered YAML is not an object'],
    ['nothing', '{{ if .HealthEvent.IsHealthy }}a: 1{{ end }}', 'RenderedYamlInvalid', 'the template rendered nothing'],
    [
      'an endless output',
      '{{ define "a" }}aaaaaaaaaaaaaaaa{{ template "a" }}{{ end }}{{ template "a" }}',
      'TemplateNotExecuted',
      '',
    ],
  ])('of %s fails with its reason', (_, template, reason, message) => {
    expect(render(template, { message: 'a "quoted" word' })).toMatchObject({
      ok: false,
      reason,
      message: expect.stringContaining(message),
    });
  });

  it('takes the first document, as YAML 1.1 without dates', () => {
    const rendered = render('spec: { a: yes, b: 012, c: 1:30, d: 2024-01-01, e: 1e3 }\n---\nother: 1\n');
    expect(rendered).toMatchObject({ manifest: { spec: { a: true, b: 10, c: '1:30', d: '2024-01-01', e: 1000 } } });
  });

  it.each<[string, unknown]>([
    ['e1', 'e1'],
    ['E-77', 'E-77'],
    ['.e3', '.e3'],
    ['._5', '._5'],
    ['1e999', '1e999'],
    ['6e5', 600_000],
    ['1_000', 1000],
    ['-.5e3', -500],
    ['08', 8],
    ['0o14', 12],
    ['0X1F', 31],
    ['-0b11', -3],
    ['!!float 2', 2],
    ['"e1"', 'e1'],
    ['665f1c2ab7e4d90012ab34cd', '665f1c2ab7e4d90012ab34cd'],
  ])('reads %s as Go does', (text, value) => {
    expect(render(`a: ${text}\n`)).toMatchObject({ manifest: { a: value } });
  });

  it.each<[string, string]>([
    ['9007199254740991', '9007199254740991'],
    ['9007199254740993', '9007199254740993'],
    ['-9_223_372_036_854_775_808', '-9223372036854775808'],
    ['0x7fffffffffffffff', '9223372036854775807'],
    ['18446744073709551615', '18446744073709552000'],
    ['1e22', '1e+22'],
    ['[1, { b: 9007199254740993 }]', '[1,{"b":9007199254740993}]'],
  ])('sends %s with the digits that the API server keeps', (text, sent) => {
    const rendered = render(`a: ${text}\n`);
    expect(JSON.stringify(rendered.ok && Reflect.get(rendered.manifest, 'a'))).toBe(sent);
  });

  it('keeps the last value of a key that stands twice, as Go does', () => {
    expect(render('a: 1\na: 2\n')).toMatchObject({ manifest: { a: 2 } });
  });

  it.each([
    ['no map to merge', 'a: { <<: 1 }'],
    [
      'endless aliases',
      'a: &a [1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]',
    ],
    ['a number that JSON does not have', 'a: .inf'],
  ])('refuses %s', (_, text) => {
    expect(render(text)).toMatchObject({
      ok: false,
      reason: 'RenderedYamlInvalid',
      message: expect.stringContaining('the rendered YAML cannot be read: '),
    });
  });

  it('keeps labels and annotations of the template, and nothing else that is not its to say', () => {
    const rendered = render('apiVersion: v9\nkind: X\nmetadata: { name: n, namespace: m, labels: { a: b } }\n');
    expect(rendered).toEqual({
      ok: true,
      manifest: {
        apiVersion: 'nvsentinel.nvidia.com/v1alpha1',
        kind: 'DrainRequest',
        metadata: { name: 'drain-x', namespace: 'nvsentinel', labels: { a: 'b' } },
      },
    });
  });

  it('never throws', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      ' .HealthEvent',
      '.Message',
      ' range ',
      ' end ',
      'a: ',
      '\n',
      '- ',
      '"',
      '| printf "%q"',
      ' if ',
    );
    fc.assert(
      fc.property(
        fc.array(piece).map(pieces => pieces.join('')),
        template => typeof render(template).ok === 'boolean',
      ),
      { numRuns: 2000 },
    );
  });
});
