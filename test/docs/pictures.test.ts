/** The pictures of the documents: each is shown, in the theme of the reader, with words for those who do not see it, and is small. */
import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { DOCUMENTS, ROOT } from './documents.ts';

const MAX_BYTES = 200_000;

const shown = DOCUMENTS.flatMap(({ file, text }) =>
  [...text.matchAll(/<picture>[^]*?<\/picture>/g)].map(([element]) => ({
    file,
    alt: /<img alt="([^"]*)"/.exec(element)?.[1] ?? '',
    paths: [...element.matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, path = '']) =>
      relative(ROOT, join(ROOT, dirname(file), path)),
    ),
  })),
);

it('each is there, light and dark, and has a text of at least five words', () => {
  expect(shown.length).toBeGreaterThan(5);
  expect(shown.flatMap(({ paths }) => paths).filter(path => !existsSync(join(ROOT, path)))).toEqual([]);
  const isWhole = ({ alt, paths: [dark = '', light = ''] }: (typeof shown)[number]): boolean =>
    alt.split(' ').length >= 5 && dark.replace('-dark.', '-light.') === light && dark !== light;
  expect(shown.filter(picture => !isWhole(picture))).toEqual([]);
});

it('no file is shown nowhere, and none is large', () => {
  const files = globSync('docs/pictures/*', { cwd: ROOT });
  expect(files.toSorted()).toEqual([...new Set(shown.flatMap(({ paths }) => paths))].toSorted());
  expect(files.filter(file => statSync(join(ROOT, file)).size > MAX_BYTES)).toEqual([]);
});
