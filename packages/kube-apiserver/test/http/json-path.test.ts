import { assert, jsonValue, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateJsonPath, parseJsonPath } from '../../src/http/json-path.ts';

const object = {
  metadata: { labels: { 'karpenter.sh/nodepool': 'general', plain: 'x' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', count: 1 },
      { type: 'Drifted', status: 'False', count: 5, reason: 'has (brackets) and ]' },
    ],
    zones: ['a', 'b', 'c'],
    zero: 0,
  },
};

function find(path: string): readonly unknown[] {
  const parsed = parseJsonPath(path);
  if (parsed === undefined) throw new Error(`not parsed: ${path}`);
  return evaluateJsonPath(parsed, object);
}

describe('a printer column path', () => {
  test.each<[string, readonly unknown[]]>([
    ['.status.zero', [0]],
    ['{.status.zero}', [0]],
    ['$.status.zero', [0]],
    ['.metadata.labels.karpenter\\.sh/nodepool', ['general']],
    [".metadata.labels['karpenter\\.sh/nodepool']", ['general']],
    ['.metadata.labels["karpenter.sh/nodepool"]', ['general']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Drifted')].reason", ['has (brackets) and ]']],
    ['.status.conditions[?(@.type != "Ready")].type', ['Drifted']],
    ['.status.conditions[?(@.count>2)].type', ['Drifted']],
    ['.status.conditions[?(@.count<=1)].type', ['Ready']],
    ['.status.conditions[?(@.reason)].type', ['Drifted']],
    ['.status.conditions[*].type', ['Ready', 'Drifted']],
    ['.status.zones[0]', ['a']],
    ['.status.zones[-1]', ['c']],
    ['.status.zones[1:3]', ['b', 'c']],
    ['.status.zones[:1]', ['a']],
    ['.metadata.labels.*', ['general', 'x']],
    ['.status.missing.deeper', []],
    ['.status.zones[7]', []],
    ['.', [object]],
  ])('%s', (path, expected) => {
    expect(find(path)).toEqual(expected);
  });

  test.each(['status', '.status[', '.a[?(@.b==', '.a[?(b)]'])('%s is refused', path => {
    expect(parseJsonPath(path)).toBeUndefined();
  });

  test('never throws, whatever the path and the object', () => {
    assert(
      property(string(), jsonValue(), (path, value) => {
        const parsed = parseJsonPath(path);
        expect(parsed === undefined || Array.isArray(evaluateJsonPath(parsed, value))).toBe(true);
      }),
    );
  });
});
