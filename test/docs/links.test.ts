/** A link of a document leads somewhere: to a file that is there, and to a heading that it has. Code and decisions are no part of it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { DOCUMENTS, ROOT } from './documents.ts';

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

function anchorsOf(file: string): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^```[^]*?^```$/gm, '');
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));
}

const links = DOCUMENTS.flatMap(({ file, text }) =>
  [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
    ([link, path = '', anchor]) => ({
      link: `${file}: ${link}`,
      target: path === '' ? file : relative(ROOT, join(ROOT, dirname(file), path)),
      anchor,
    }),
  ),
);

it('links are found', () => expect(links.length).toBeGreaterThan(100));

it('every link leads to a file', () => {
  expect(links.filter(({ target }) => !existsSync(join(ROOT, target))).map(({ link }) => link)).toEqual([]);
});

it('every link to a heading leads to one', () => {
  const lost = links.filter(
    ({ target, anchor }) => anchor !== undefined && existsSync(join(ROOT, target)) && !anchorsOf(target).has(anchor),
  );
  expect(lost.map(({ link }) => link)).toEqual([]);
});
