/** Regular expressions as Go reads them (RE2), for `pattern` and for the string functions of rules. */
import { RE2JS } from 're2js';

const MAX_PATTERNS = 1000;
const patterns = new Map<string, RE2JS>();

/** @throws an error for what is not a regular expression in Go */
function compilePattern(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const compiled = RE2JS.compile(pattern);
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  patterns.set(pattern, compiled);
  return compiled;
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
