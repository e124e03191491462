/** Regular expressions as Go reads them (RE2), for `pattern` and for the string functions of rules. */
import { RE2JS } from 're2js';
import { createMemory } from '../memory.ts';

const MAX_PATTERNS = 1000;
const patterns = createMemory<RE2JS>(MAX_PATTERNS);

/** @throws an error for what is not a regular expression in Go */
function compilePattern(pattern: string): RE2JS {
  return patterns.get(pattern, () => RE2JS.compile(pattern));
}

/** True when the pattern matches somewhere in the text. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compilePattern(pattern).test(text);
}

/** The first match; the empty text when there is none. */
export function findPattern(pattern: string, text: string): string {
  const [first = ''] = findAllPatterns(pattern, text, 1);
  return first;
}

/** All matches, at most `limit` unless that is negative. */
export function findAllPatterns(pattern: string, text: string, limit = -1): string[] {
  const matcher = compilePattern(pattern).matcher(text);
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  const found: string[] = [];
  for (let count = 0; count < most && matcher.find(); count += 1) found.push(matcher.group() ?? '');
  return found;
}
