/**
 * Go's `filepath.Match` for names without a slash: `*`, `?`, `[a-z]`, `[^a]`, `\x`; the whole name, case-sensitive. Braces and `**`
 * mean nothing special. NVSentinel's namespace patterns are read this way.
 */

type Token =
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [number, number])[] };

/** A pattern that parsed; undefined when it did not (Go's `syntax error in pattern`). */
export type FilePattern = readonly Token[];

/** Reads a pattern; undefined when a class is not closed or empty, a range is not complete, or a backslash ends it. */
export function parseFilePattern(text: string): FilePattern | undefined {
  const characters = Array.from(text);
  const tokens: Token[] = [];
  let at = 0;
  while (at < characters.length) {
    const character = characters[at++];
    if (character === '*') tokens.push({ kind: 'any' });
    else if (character === '?') tokens.push({ kind: 'one' });
    else if (character === '[') {
      const parsed = parseClass(characters, at);
      if (parsed === undefined) return undefined;
      tokens.push(parsed.token);
      at = parsed.end;
    } else if (character === '\\') {
      const escaped = characters[at++];
      if (escaped === undefined) return undefined;
      tokens.push({ kind: 'literal', character: escaped });
    } else if (character !== undefined) tokens.push({ kind: 'literal', character });
  }
  return tokens;
}

function parseClass(characters: readonly string[], start: number): { token: Token; end: number } | undefined {
  const negated = characters[start] === '^';
  let at = negated ? start + 1 : start;
  const ranges: (readonly [number, number])[] = [];
  while (characters[at] !== ']' || ranges.length === 0) {
    const low = readMember(characters, at);
    if (low === undefined) return undefined;
    at = low.end;
    let high = low;
    if (characters[at] === '-') {
      const upper = readMember(characters, at + 1);
      if (upper === undefined) return undefined;
      high = upper;
      at = upper.end;
    }
    ranges.push([low.code, high.code]);
  }
  return { token: { kind: 'class', negated, ranges }, end: at + 1 };
}

/** One character of a class: not `-`, not `]`, and not the last of the pattern. */
function readMember(characters: readonly string[], start: number): { code: number; end: number } | undefined {
  const escaped = characters[start] === '\\';
  const at = escaped ? start + 1 : start;
  const character = characters[at];
  if (character === undefined || characters[at + 1] === undefined) return undefined;
  if (!escaped && (character === '-' || character === ']')) return undefined;
  return { code: character.codePointAt(0) ?? 0, end: at + 1 };
}

/** Whether the pattern matches the whole name. Takes at most `pattern × name` steps. */
export function matchesFilePattern(pattern: FilePattern, name: string): boolean {
  const characters = Array.from(name);
  let token = 0;
  let at = 0;
  /** The place to go on from if the last `*` takes one more character. */
  let retry: { token: number; at: number } | undefined;
  while (at < characters.length) {
    const current = pattern[token];
    const character = characters[at] ?? '';
    if (current?.kind === 'any') {
      retry = { token: token + 1, at: at + 1 };
      token++;
    } else if (current !== undefined && takes(current, character)) {
      token++;
      at++;
    } else if (retry !== undefined) {
      ({ token, at } = retry);
      retry = { token, at: at + 1 };
    } else return false;
  }
  return pattern.slice(token).every(({ kind }) => kind === 'any');
}

function takes(token: Exclude<Token, { kind: 'any' }>, character: string): boolean {
  switch (token.kind) {
    case 'one':
      return true;
    case 'literal':
      return token.character === character;
    case 'class': {
      const code = character.codePointAt(0) ?? 0;
      return token.ranges.some(([low, high]) => low <= code && code <= high) !== token.negated;
    }
  }
}
