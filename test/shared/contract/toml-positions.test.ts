import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { tomlPositions } from '../../../shared/contract/toml-positions.ts';
import { anyText } from '../../builders/any-text.ts';

const TEXT = `# a comment with [a.table] in it
top = "a # b = c"
"quoted key" = 'x = 1'
dotted.key.here = 1

[table] # comment
text = """
[not.a.table]
key = 1
"""
after = '''
it''s = "fine"'''
list = [
  1, # one
  [2, 3],
  { a = 1, b.c = "]" },
]
[table.inner]
x = 1
[[array]]
name = "first"
[array.sub]
y = 1
[[array]]
name = "second"
rules = [{ name = "*", mode = "X" },
  { name = "y" }]
last = """a quote at the end """"
end = true
`;

describe('tomlPositions', () => {
  const { positionOf } = tomlPositions(TEXT);

  it.each<[readonly (string | number)[], number]>([
    [['top'], 2],
    [['quoted key'], 3],
    [['dotted', 'key', 'here'], 4],
    [['table'], 6],
    [['table', 'text'], 7],
    [['table', 'after'], 11],
    [['table', 'list'], 13],
    [['table', 'list', 0], 14],
    [['table', 'list', 1, 1], 15],
    [['table', 'list', 2, 'b', 'c'], 16],
    [['table', 'inner', 'x'], 19],
    [['array', 0, 'name'], 21],
    [['array', 0, 'sub', 'y'], 23],
    [['array', 1, 'name'], 25],
    [['array', 1, 'rules', 0, 'mode'], 26],
    [['array', 1, 'rules', 1, 'name'], 27],
    [['array', 1, 'end'], 29],
    [['array', 1, 'missing'], 24],
    [['nowhere'], 1],
  ])('%j stands in line %d', (path, line) => {
    expect(() => parse(TEXT)).not.toThrow();
    expect(positionOf(path).line).toBe(line);
  });

  it('finds every key of any text that is valid TOML', () => {
    const key = fc.string({ minLength: 1, maxLength: 5 });
    const { table } = fc.letrec(tie => ({
      value: fc.oneof({ maxDepth: 3 }, fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()), tie('table')),
      table: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(table, fc.array(table), anyText())), content => {
        const text = stringify(content);
        const lines = text.split('\n');
        const positions = tomlPositions(text);
        // A key that stands at the start of its line stands in the line that is named.
        for (const [name, value] of Object.entries(parse(text))) {
          if (typeof value === 'string') {
            const line = lines[positions.positionOf([name]).line - 1] ?? '';
            expect(line.startsWith(name) || line.startsWith(JSON.stringify(name)) || /^["']/.test(line)).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('ends on any text, valid or not', () => {
    const anyText = fc.string({
      unit: fc.constantFrom('a', '[', ']', '{', '}', '=', '"', "'", '\\', '#', '\n', ',', '.'),
    });
    fc.assert(
      fc.property(anyText, text => tomlPositions(text).positionOf(['a']).line >= 1),
      { numRuns: 10_000 },
    );
  });

  it('reports a key of too many parts in place of following it', () => {
    expect(tomlPositions(`\na${'.a'.repeat(20_000)} = 1`).tooDeep).toEqual({ line: 2, parts: 20_001 });
    expect(tomlPositions('a.b.c = 1').tooDeep).toBeUndefined();
  });
});
