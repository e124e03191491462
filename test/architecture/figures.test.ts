/**
 * How far one must read: the lines of each `route.ts` and `reconcile.ts`, and the files that a change enters on its way to the effect.
 * `FIGURES=print npx vitest run test/architecture/figures.test.ts` prints them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRepairWorld, seedPool } from '../fakes/repair-world.ts';
import { minutes } from '../../shared/domain/time.ts';
import { enteredBy } from './entered-files.ts';
import { root, sources } from './sources.ts';
import { WHOLE_PATHS } from './whole-paths.ts';

const linesOf = (file: string): number => readFileSync(join(root, file), 'utf8').trimEnd().split('\n').length;
/** Of a longer file, the document names the functions to read … */
const READ_IN_ONE_SITTING = 200;
/** … but for a file of which a change runs through nearly all. */
const READ_WHOLE = ['functions/repair/observe.ts'];
/** A file holds one thought. */
const MAX_LINES = 400;
/** Printed and not held: a count that is held gets met by worse code. */
const COUNTED: readonly (readonly [name: string, files: RegExp])[] = [
  ['functions without repair', /^functions\/(?!repair\/)/],
  ['shared', /^shared\//],
  ['the kernel', /^shared\/lifecycle\//],
  ['forwarder', /^forwarder\//],
  ['bench', /^bench\//],
];
const sumOf = (files: readonly string[]): number => files.reduce((sum, file) => sum + linesOf(file), 0);
/** Files of its own concern that a node condition enters (ADR 0050). */
const MAX_FILES = 41;
/** The same of the whole product. */
const MAX_FILES_IN_ALL = 87;

describe('what a reader must read', () => {
  it.each(sources.filter(file => /^functions\/.*\/(route|reconcile)\.ts$/.test(file)))('%s is short', file => {
    expect(linesOf(file)).toBeLessThanOrEqual(READ_IN_ONE_SITTING);
  });

  it('is no file of the product of more than 400 lines', () => {
    const counts = COUNTED.map(
      ([name, pattern]) => `${name}: ${sumOf(sources.filter(file => pattern.test(file)))} lines`,
    );
    if (process.env['FIGURES'] === 'print') process.stdout.write(`${counts.join('\n')}\n`);
    const product = sources.filter(file => !file.includes('/test/'));
    expect(product.filter(file => linesOf(file) > MAX_LINES)).toEqual([]);
  });
});

describe('a node condition on its way to a deletion', () => {
  it('enters the kernel and one concern alone', async () => {
    const world = createRepairWorld();
    seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5']);
    world.setCondition('n1', 'NetworkUnavailable', 'True');
    const entered = await enteredBy(async () => {
      await world.look('n1');
      world.advance(minutes(10));
      await world.look('n1');
    });
    expect(world.writes.map(({ verb }) => verb)).toContain('delete');
    const inRoom = (room: string): readonly string[] => entered.filter(file => file.startsWith(`${room}/`));
    if (process.env['FIGURES'] === 'print') {
      const rooms = ['functions/repair', 'shared/lifecycle', 'shared/cluster', 'shared/policies', 'shared/domain'];
      const lines = rooms.map(room => `${room}: ${inRoom(room).length}`);
      process.stdout.write(`${[...lines, `in all: ${entered.length}`].join('\n')}\n`);
    }
    expect(inRoom('functions')).toEqual(inRoom('functions/repair'));
    expect(inRoom('shared/lifecycle').length).toBeGreaterThan(3);
    expect(inRoom('functions/repair').length).toBeGreaterThan(10);
    expect(inRoom('functions/repair').length).toBeLessThanOrEqual(MAX_FILES);
    expect(entered.length).toBeLessThanOrEqual(MAX_FILES_IN_ALL);
    const [told = ''] = readFileSync(join(root, 'docs/data-flow.md'), 'utf8').split('\n## A pod');
    expect(inRoom('functions/repair').filter(file => !told.includes(`\`${file}\``))).toEqual([]);
  });
});

const sections = readFileSync(join(root, 'docs/data-flow.md'), 'utf8').split('\n## ');

const sectionOf = (heading: string): string => sections.find(text => text.startsWith(`${heading}\n`)) ?? '';
/** What a section says one must open: a folder, then files of it. */
const OPEN = /^\*\*Open\*\* of `([\w/-]+)`(?:, in this order)?: (.+)$/gm;

/** The files that a section of the document names: with their path, or in a table as a row of one folder. */
function namedIn(heading: string): readonly string[] {
  const section = sectionOf(heading).replaceAll(OPEN, '');
  const rows = [...section.matchAll(/^\| `([\w/-]+)` *\| ([^|]+)/gm)];
  const inRows = rows.flatMap(([, folder, files = '']) =>
    [...files.matchAll(/`([\w-]+\.ts)`/g)].map(([, file]) => `${folder}/${file}`),
  );
  return [...inRows, ...[...section.matchAll(/`([\w-]+\/[\w/-]+\.ts)`/g)].map(([, file = '']) => file)];
}
const IN_COMMON = 'What the paths have in common';

const toOpen = (heading: string): readonly string[] =>
  [...sectionOf(heading).matchAll(OPEN)].flatMap(([, folder, files = '']) =>
    [...files.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file]) => `${folder}/${file}`),
  );
/**
 * Of one path, those in common included. The longest is that of a drain: three on the way to a function, the loop of one
 * object, and nine of the concern.
 */
const MAX_TO_OPEN = 13;

describe('the whole path with the real adapters', () => {
  it.each(WHOLE_PATHS)('$heading', async ({ heading, most, follow }) => {
    const entered = await follow();
    if (process.env['FIGURES'] === 'print') {
      const counts = ['forwarder/', 'functions/', 'shared/adapters/', 'shared/'].map(
        room => `${room} ${entered.filter(file => file.startsWith(room)).length}`,
      );
      process.stdout.write(`${heading}: ${entered.length} files (${counts.join(', ')})\n`);
      const toRead = [...toOpen(IN_COMMON), ...toOpen(heading)];
      process.stdout.write(`  to open: ${toRead.length} files of ${sumOf(toRead)} lines\n`);
    }
    const named = [...namedIn(IN_COMMON), ...namedIn(heading)];
    expect(entered.filter(file => !named.includes(file))).toEqual([]);
    expect(entered.length).toBeLessThanOrEqual(most);
    const opened = toOpen(heading);
    expect(opened.length).toBeGreaterThan(5);
    expect(opened.filter(file => !entered.includes(file))).toEqual([]);
    expect([...toOpen(IN_COMMON), ...opened].length).toBeLessThanOrEqual(MAX_TO_OPEN);
  });

  it.each([IN_COMMON, ...WHOLE_PATHS.map(({ heading }) => heading)])(
    '%s: names the functions to read in a long file',
    heading => {
      const long = toOpen(heading).filter(file => linesOf(file) > READ_IN_ONE_SITTING && !READ_WHOLE.includes(file));
      const section = sectionOf(heading).replaceAll(/\s+/g, ' ');
      expect(long.filter(file => !new RegExp(`\`\\w+\` of \`${file}\``).test(section))).toEqual([]);
    },
  );

  it('names no file that is not there', () => {
    const named = [IN_COMMON, ...WHOLE_PATHS.map(({ heading }) => heading)].flatMap(namedIn);
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(file => !existsSync(join(root, file)))).toEqual([]);
  });
});
