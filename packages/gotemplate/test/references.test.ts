/** The fields a template refers to, before it runs. */
import { describe, expect, it } from 'vitest';
import { parse, references, unknownFields } from '../src/index.ts';
import { TEMPLATE_DATA } from '../src/nvsentinel.ts';

const paths = (text: string, templates: Record<string, string> = {}): string[] =>
  references(parse('t', text, { templates })).map(reference => reference.path.join('.'));

describe('references', () => {
  it.each([
    ['a chain', '{{.a.b}}', ['a.b']],
    ['arguments and pipes', '{{printf .f (len .l) | eq .x}}', ['f', 'l', 'x']],
    ['both branches', '{{if .a}}{{.b}}{{else if .c}}{{.d}}{{else}}{{.e}}{{end}}', ['a', 'b', 'c', 'd', 'e']],
    ['with', '{{with .a}}{{.b}}{{$.c}}{{else}}{{.d}}{{end}}', ['a', 'a.b', 'c', 'd']],
    ['range', '{{range .a}}{{.b}}{{end}}', ['a', 'a.[].b']],
    ['range variables', '{{range $i, $x := .a}}{{$x.b}}{{$i.c}}{{end}}', ['a', 'a.[].b']],
    ['variables', '{{$x := .a}}{{$x.b}}', ['a', 'a.b']],
    ['a variable assigned again', '{{$x := .a}}{{$x = .c}}{{$x.b}}', ['a', 'c']],
    ['parentheses', '{{(.a).b}}', ['a', 'a.b']],
    ['index', '{{(index .a 0 "k").b}}', ['a', 'a.[].[].b']],
    ['results of functions', '{{(or .a .b).c}}', ['a', 'b']],
    ['template calls', '{{define "x"}}{{.b}}{{$.c}}{{end}}{{template "x" .a}}', ['a', 'a.b', 'a.c']],
    ['blocks', '{{block "x" .a}}{{.b}}{{end}}', ['a', 'a.b']],
    ['recursion', '{{define "x"}}{{.b}}{{template "x" .}}{{end}}{{template "x" .a}}', ['a', 'a.b']],
    ['scopes', '{{$x := .a}}{{if 1}}{{$x := .b}}{{$x.c}}{{end}}{{$x.d}}', ['a', 'b', 'b.c', 'a.d']],
  ])('follow %s', (_, text, expected) => {
    expect(paths(text)).toEqual(expected);
  });

  it('end for a template that goes ever deeper', () => {
    expect(paths('{{template "t" .a}}{{template "t" .b}}').length).toBeLessThan(1000);
  });

  it('say where they are', () => {
    expect(references(parse('t', 'x\n  {{ .a.b }}'))).toEqual([
      { path: ['a', 'b'], text: '.a.b', template: 't', line: 2, column: 7 },
    ]);
  });
});

describe('unknown fields', () => {
  const unknown = (text: string): string[] =>
    unknownFields(parse('drain', text), TEMPLATE_DATA).map(field => field.message);

  it('are those that the type does not have', () => {
    expect(unknown('{{ .HealthEvent.NodeName }}\n{{ .HealthEvent.Nope }}{{ .Nope.Deeper }}')).toEqual([
      "template: drain:2:15: at <.HealthEvent.Nope>: can't evaluate field Nope in type *protos.HealthEvent",
      "template: drain:2:31: at <.Nope.Deeper>: can't evaluate field Nope in type customdrain.TemplateData",
    ]);
  });

  it('are found in elements and entries', () => {
    expect(unknown('{{range .HealthEvent.EntitiesImpacted}}{{.EntityType}}{{.Name}}{{end}}')).toHaveLength(1);
    expect(unknown('{{.HealthEvent.Metadata.any}}{{.PodsToDrain.ns}}{{.HealthEvent.Metadata.any.more}}')).toHaveLength(
      1,
    );
  });

  it('are not methods', () => {
    expect(unknown('{{.HealthEvent.GetNodeName}}{{.HealthEvent.RecommendedAction.String}}')).toEqual([]);
    expect(unknown('{{.HealthEvent.GeneratedTimestamp.AsTime.Format "2006"}}')).toEqual([]);
  });

  it('are those that execution would refuse', () => {
    const text = '{{ .HealthEvent.Agent.Name }}';
    expect(unknown(text)).toEqual([
      "template: drain:1:15: at <.HealthEvent.Agent.Name>: can't evaluate field Name in type string",
    ]);
  });
});
