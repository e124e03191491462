import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, sources } from './sources.ts';

/** Read by others: AWS, kubectl, NVSentinel, commander. */
const READ_ELSEWHERE = ['ExclusiveStartKey', 'InvocationType', 'getErrHelpWidth', 'getOutHelpWidth', 'skipTLSVerify'];

/** `...(when && { name: value })`, with its brackets. */
function conditionalSpreads(text: string): readonly string[] {
  return [...text.matchAll(/\.\.\.\(/g)].map(({ index }) => {
    let depth = 1;
    let end = index + 4;
    for (; depth > 0 && end < text.length; end += 1) {
      if (text[end] === '(') depth += 1;
      if (text[end] === ')') depth -= 1;
    }
    return text.slice(index, end);
  });
}

const namesIn = (spread: string): readonly string[] =>
  [...spread.matchAll(/(?:&&|\?|:)\s*\{([^{}]*)/g)].flatMap(([, fields = '']) =>
    fields.split(',').flatMap(field => /^\s*'?([A-Za-z_]\w*)'?\s*(?::|$)/.exec(field)?.[1] ?? []),
  );

it('a field that is set in a conditional spread, where no type checks its name, is known elsewhere', () => {
  const texts = sources
    .filter(file => /^(functions|shared|forwarder|runtime|cli)\//.test(file))
    .map(file => readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''));
  const spreads = texts.flatMap(conditionalSpreads);
  expect(spreads.length).toBeGreaterThan(300);
  const others = texts.map(text => conditionalSpreads(text).reduce((rest, spread) => rest.replace(spread, ''), text));
  const known = new Set(others.flatMap(text => text.match(/[A-Za-z_]\w*/g) ?? []));
  const lost = [...new Set(spreads.flatMap(namesIn))].filter(name => !known.has(name));
  expect(lost.toSorted()).toEqual(READ_ELSEWHERE);
});
