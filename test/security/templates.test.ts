/** What somebody says in an event or a condition stays text in the object that a template makes of it, where the template quotes it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { renderRepairObject } from '../../shared/custom-resource/drain-template.ts';
import { toHealthEvent } from '../../functions/drain/rule/node-annotations.ts';
import { anyText } from '../builders/any-text.ts';

const TEMPLATE = `apiVersion: example.com/v1
kind: Fix
metadata: { namespace: ops }
spec:
  message: {{ printf "%q" .HealthEvent.Message }}
  reason: {{ printf "%q" .ConditionReason }}
`;

function specOf(text: string): unknown {
  const event = toHealthEvent({ id: 'e1', nodeName: 'n1', message: text, force: false });
  const rendered = renderRepairObject(TEMPLATE, { event, podsToDrain: {} }, { ConditionReason: text });
  if (!rendered.ok) throw new Error(rendered.message);
  const { spec, ...rest } = rendered.value;
  expect(rest).toEqual({ apiVersion: 'example.com/v1', kind: 'Fix', metadata: { namespace: 'ops' } });
  return spec;
}

it.each(['x\n  image: evil', 'x"\nkind: RoleBinding', '{ a: b }', '*alias', '!!binary x', 'a # b', '---\nkind: Other'])(
  '%j',
  text => {
    expect(specOf(text)).toEqual({ message: text, reason: text });
  },
);

it('any text', () => {
  fc.assert(
    fc.property(anyText(), text => {
      expect(specOf(text)).toEqual({ message: text, reason: text });
    }),
  );
});
