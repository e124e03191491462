import { describe, expect, test } from 'vitest';
import { customColumns } from '../../../src/http/tables/custom-columns.ts';

const object = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'nc', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { weight: 3.7, list: ['a'], on: true, text: 'x' },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};
const now = Date.parse('2026-01-01T00:00:30Z');

function cell(type: string, jsonPath: string) {
  return customColumns([{ name: 'C', type, jsonPath }])[1]?.cell(object, now);
}

describe('a printer column', () => {
  test.each([
    ['string', '.status.conditions[?(@.type=="Ready")].status', 'True'],
    ['string', '.spec.list', '["a"]'],
    ['string', '.spec.weight', '3.7'],
    ['string', '.spec.missing', null],
    ['integer', '.spec.weight', 3],
    ['integer', '.spec.text', null],
    ['number', '.spec.weight', 3.7],
    ['boolean', '.spec.on', true],
    ['boolean', '.spec.text', null],
    ['date', '.metadata.creationTimestamp', '30s'],
    ['date', '.spec.text', '<invalid>'],
    ['string', 'not a path', null],
  ])('of type %s at %s shows %j', (type, path, expected) => {
    expect(cell(type, path)).toBe(expected);
  });

  test('keeps its priority, so that kubectl shows it with -o wide only', () => {
    const columns = customColumns([{ name: 'ID', type: 'string', jsonPath: '.spec.text', priority: 1 }]);
    expect(columns.map(({ name, priority }) => [name, priority])).toEqual([
      ['Name', 0],
      ['ID', 1],
    ]);
  });

  test('without any, a table shows name and age', () => {
    expect(customColumns(undefined).map(({ name }) => name)).toEqual(['Name', 'Age']);
  });
});
