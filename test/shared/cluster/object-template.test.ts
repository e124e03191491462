/** What a template of a hook renders reaches the API server digit by digit. */
import { expect, it } from 'vitest';
import { renderObject } from '../../../shared/cluster/object-template.ts';

it('keeps all digits of an integer', () => {
  const rendered = renderObject('hook.yaml', 'spec: { id: 9007199254740993, count: 3, share: 0.5, none: null }', {});
  expect(JSON.stringify(rendered)).toBe(
    '{"ok":true,"value":{"spec":{"id":9007199254740993,"count":3,"share":0.5,"none":null}}}',
  );
});

it('refuses a number that JSON does not have', () => {
  expect(renderObject('hook.yaml', 'a: .inf', {})).toEqual({
    ok: false,
    message: 'template hook.yaml rendered YAML that cannot be read: Infinity is no number of JSON',
  });
});
