/** Templates that render one object: what they render is read as Go reads it, and no value of the data becomes a field. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderObject } from '../../../shared/custom-resource/render.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { anyText } from '../../builders/any-text.ts';

const render = (text: string, data: JsonObject = {}) => renderObject({ name: 'hook.yaml', text }, data);

describe('what is rendered', () => {
  it('keeps all digits of an integer', () => {
    expect(JSON.stringify(render('spec: { id: 9007199254740993, count: 3, share: 0.5, none: null }'))).toBe(
      '{"ok":true,"value":{"spec":{"id":9007199254740993,"count":3,"share":0.5,"none":null}}}',
    );
  });

  it('must be JSON', () => {
    expect(render('a: .inf')).toMatchObject({ ok: false, reason: 'RenderedYamlInvalid' });
    expect(render('- a')).toMatchObject({ ok: false, message: 'the rendered YAML is not an object' });
  });

  it('is YAML 1.1, as Go reads it: yes is true, 012 is ten, and of a key that stands twice the last value holds', () => {
    expect(render('{ enabled: yes, mode: 012, quoted: "yes", a: 1, a: 2 }')).toEqual({
      ok: true,
      value: { enabled: true, mode: 10, quoted: 'yes', a: 2 },
    });
  });
});

const INJECTED = [
  'x"\n  nodeName: n2\n  ignored: "',
  // The same keys, one of them twice.
  'x"\n  nodeName: n2 #',
  'x", nodeName: n2, b: "',
];
const REASON = 'spec:\n  nodeName: {{ .NodeName }}\n  reason: "{{ .Message }}"\n';

describe('a value that YAML takes for a field', () => {
  it.each(INJECTED)('is refused: %j', Message => {
    const rendered = render(REASON, { NodeName: 'n1', Message });
    expect(rendered.ok).toBe(false);
  });

  it('is named, with what helps', () => {
    const rendered = render(REASON, { NodeName: 'n1', Message: INJECTED[0] ?? '' });
    expect(rendered).toMatchObject({
      reason: 'TextReadAsFields',
      message: expect.stringContaining('printf "%q"') as string,
    });
  });

  it('is refused where it stands without quotes, in a list, in a block, and at the end', () => {
    expect(render('a: {{ .A }}', { A: '{ b: c }' })).toMatchObject({ reason: 'TextReadAsFields' });
    expect(render('a:\n- {{ .A }}', { A: 'b: c' })).toMatchObject({ reason: 'TextReadAsFields' });
    expect(render('a: |\n  {{ .A }}', { A: 'b\nc: d' })).toMatchObject({ reason: 'TextReadAsFields' });
    expect(render('a: {{ .A }}\nb: c', { A: '1\n---' })).toMatchObject({ reason: 'TextReadAsFields' });
  });

  it('is not what the template itself makes a key of, nor what a branch decides by', () => {
    const labels = 'a:\n{{- range $k, $v := .Labels }}\n  {{ $k }}: {{ printf "%q" $v }}\n{{- end }}';
    const Labels = { 'node.kubernetes.io/zone': 'yes: no', 'a:b': '"' };
    expect(render(labels, { Labels })).toEqual({ ok: true, value: { a: Labels } });
    expect(render('{{ if eq .A "NIC: down" }}b: c{{ else }}d: e{{ end }}', { A: 'NIC: down' })).toEqual({
      ok: true,
      value: { b: 'c' },
    });
    expect(render('{{ printf "a: %q" .A }}', { A: 'x: "y"' })).toEqual({ ok: true, value: { a: 'x: "y"' } });
  });

  it('is no failure where a function refuses the plain text', () => {
    const text = 'a: {{ if eq .A "b:c" }}{{ index .B 0 }}{{ else }}{{ index .B 9 }}{{ end }}';
    expect(render(text, { A: 'b:c', B: ['d'] })).toEqual({ ok: true, value: { a: 'd' } });
  });

  it('is none where it is quoted, whatever it is', () => {
    fc.assert(
      fc.property(anyText(), Message => {
        expect(render('reason: {{ printf "%q" .Message }}', { Message })).toEqual({
          ok: true,
          value: { reason: Message },
        });
      }),
    );
  });

  it('never adds a key, whatever it is', () => {
    const pieces = fc.constantFrom(
      '"',
      "'",
      '\n',
      ': ',
      ':',
      ' ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '#',
      '- ',
      '---',
      '&a',
      '*a',
      '|',
      'b',
      'nodeName',
      '<<',
    );
    const hostile = fc.array(pieces, { maxLength: 12 }).map(parts => parts.join(''));
    const templates = fc.constantFrom(
      REASON,
      'spec: { nodeName: {{ .NodeName }}, reason: {{ .Message }} }',
      "spec:\n  reason: '{{ .Message }}'\n  nodeName: {{ .NodeName }}\n",
      'spec:\n  reason: |\n    {{ .Message }}\n  nodeName: {{ .NodeName }}\n',
    );
    fc.assert(
      fc.property(templates, hostile, (text, Message) => {
        const rendered = render(text, { NodeName: 'n1', Message });
        if (!rendered.ok) return;
        expect(Object.keys(rendered.value)).toEqual(['spec']);
        expect(Object.keys(Object(rendered.value['spec'])).toSorted()).toEqual(['nodeName', 'reason']);
        expect(rendered.value).toMatchObject({ spec: { nodeName: 'n1' } });
      }),
      { numRuns: 2000 },
    );
  });
});
