/** What the YAML parser cannot read, for the author of the file. */

/** Uses of one anchor; a scenario may repeat a node many times. */
export const MAX_ALIASES = 100_000;

export const TOO_DEEP = 'is nested too deeply to be read';

/** The parser recurses; what it throws may already be an error of its own. */
export const isOverflow = (message: string): boolean => message.includes('call stack size exceeded');

/** What the parser says, and what its author has to look at. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /^All mapping items must start at the same column/,
    'is indented otherwise than the keys above it: all keys of a block begin in one column',
  ],
  [/^Map keys must be unique/, 'stands twice in its block: keys must be unique'],
  [
    /^Nested mappings are not allowed in compact mappings/,
    'has a second ": " in its line: quote the value, or begin a new line',
  ],
  [/^Implicit map keys need to be followed by map values/, 'is no key and value: write "key: value", with a blank'],
  [/^Tabs are not allowed as indentation/, 'is indented with a tab: YAML takes blanks'],
  // It says of an anchor that is used too often that it is an attack.
  [/^Excessive alias count/, `uses anchors more than ${MAX_ALIASES} times`],
];

/** What is wrong with the text, in place of the parser's own words where those do not say what to do. */
export function describeYamlFailure(message: string): string {
  if (isOverflow(message)) return TOO_DEEP;
  return HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? message;
}

interface YamlFailure {
  readonly code: string;
  readonly pos: readonly [number, number];
  readonly message: string;
}

const TOO_FAR_IN =
  'is indented more deeply than the line above it, which has a value already: all keys of a block begin in one column';

/** What the parser found first, and where; what follows are its consequences. */
export function firstFailure(
  errors: readonly YamlFailure[],
): { readonly offset: number; readonly message: string } | undefined {
  const [first, second] = errors;
  if (first === undefined) return undefined;
  // A key whose value seems to go on in the next line.
  const isTooFarIn = first.code === 'BLOCK_AS_IMPLICIT_KEY' && second?.code === 'MULTILINE_IMPLICIT_KEY';
  if (isTooFarIn && second.pos[0] === first.pos[0]) return { offset: second.pos[1] - 1, message: TOO_FAR_IN };
  return { offset: first.pos[0], message: describeYamlFailure(first.message) };
}
