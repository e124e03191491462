import { describe, expect, test } from 'vitest';
import { checkListVersion } from '../../src/http/list-version.ts';
import { ApiStatusError } from '../../src/types.ts';

function codeOf(query: string): number {
  try {
    checkListVersion(new URLSearchParams(query), '100');
    return 200;
  } catch (error) {
    if (error instanceof ApiStatusError) return error.status.code;
    throw error;
  }
}

describe('the version of a list', () => {
  test.each([
    ['', 200],
    ['resourceVersion=0', 200],
    ['resourceVersion=99', 200],
    ['resourceVersion=99&resourceVersionMatch=NotOlderThan', 200],
    ['resourceVersion=100&resourceVersionMatch=Exact', 200],
    ['resourceVersion=99&resourceVersionMatch=Exact', 410],
    ['resourceVersion=101', 504],
    ['resourceVersion=abc', 400],
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersion=0&resourceVersionMatch=Exact', 422],
    ['resourceVersion=1&resourceVersionMatch=Newest', 422],
    ['sendInitialEvents=true', 422],
    ['resourceVersion=1&continue=abc', 400],
  ])('"%s" is answered %i when the store is at 100', (query, code) => {
    expect(codeOf(query)).toBe(code);
  });
});
