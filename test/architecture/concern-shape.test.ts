/** Each concern has the same file for the same thought, so that who has read one of them finds their way in all. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imports, root, sources } from './sources.ts';

const ROLES = ['route', 'reconcile', 'observe', 'decide', 'apply', 'record', 'report'] as const;
type Role = (typeof ROLES)[number];

/** The parts that look at one kind of subject, and the roles that they do not have. */
const PARTS: Readonly<Record<string, readonly Role[]>> = {
  'functions/drain': [],
  'functions/grace-period': [],
  'functions/repair': [],
  // Messages about policies come through `functions/repair/route.ts`.
  'functions/repair/policy-status': ['route'],
  // One router is for all four: `functions/finalizer/route.ts`.
  'functions/finalizer/termination': ['route'],
  'functions/finalizer/finalizer-rules': ['route'],
  'functions/finalizer/objects': ['route'],
  'functions/finalizer/orphans': ['route'],
  // The sweep looks at the due index, and remembers and says nothing by itself.
  'functions/timer': ['observe', 'apply', 'record', 'report'],
};

/** What these roles are called elsewhere, or were called. */
const OTHER_NAMES = [
  'act',
  'announce',
  'answers',
  'codec',
  'effects',
  'gone',
  'helpers',
  'look',
  'manager',
  'say',
  'seen',
  'types',
  'utils',
];

const filesOf = (part: string): readonly string[] => sources.filter(file => file.startsWith(`${part}/`));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe.each(Object.entries(PARTS))('%s', (part, without) => {
  const files = filesOf(part);

  it('has a file of the same name for each of its roles', () => {
    const wanted = ROLES.filter(role => !without.includes(role)).map(role => `${part}/${role}.ts`);
    expect(wanted.filter(file => !files.includes(file))).toEqual([]);
    expect(without.filter(role => files.includes(`${part}/${role}.ts`))).toEqual([]);
  });

  it('has no other name for a role', () => {
    const others = files.filter(file => OTHER_NAMES.includes(basename(file, '.ts')));
    expect(others).toEqual([]);
  });

  it.each([
    ['decide', /^export function decide[(<]|^export const decide\b/m],
    ['apply', /^export (?:async )?function apply\(|^export const apply\b/m],
    ['observe', /^export interface Observed[A-Z]\w+/m],
    ['observe', /^export async function observe\(/m],
  ] as const)('exports from %s.ts what the name says', (role, exported) => {
    const file = `${part}/${role}.ts`;
    if (!files.includes(file)) return;
    expect(read(file)).toMatch(exported);
  });
});

/** What a file of a role exports beside types and constants. */
const EXPORTS: Readonly<Record<string, RegExp>> = {
  decide: /^decide(?:[A-Z]\w*)?$/,
  apply: /^apply$/,
  reconcile: /^reconcile[A-Z]\w*$/,
};
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;
/** What else some export. */
const OTHER_EXPORTS: Readonly<Record<string, readonly string[]>> = {
  // A pass judges a node by its record, and before an act by its state alone: that is `decideNode`.
  'functions/repair/node/decide.ts': ['judgeNode'],
  // Its loop is over all records that are due.
  'functions/timer/reconcile.ts': ['sweep'],
};

describe('what stands beside the one function of a role', () => {
  const files = Object.keys(EXPORTS).flatMap(role =>
    sources.filter(file => file.startsWith('functions/') && basename(file) === `${role}.ts`),
  );
  const otherExportsOf = (file: string): readonly string[] =>
    [...read(file).matchAll(/^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter(name => !CONSTANT.test(name) && EXPORTS[basename(file, '.ts')]?.test(name) !== true);

  it('is found', () => expect(files.length).toBeGreaterThan(20));

  it.each(files)('%s has types and constants alone', file => {
    expect(otherExportsOf(file).toSorted()).toEqual(OTHER_EXPORTS[file] ?? []);
  });
});

describe('the rules that mutants may replace', () => {
  const declaring = (declaration: RegExp): readonly string[] => sources.filter(file => declaration.test(read(file)));

  it('stand in reconcile.ts, and their types in context.ts', () => {
    const places = declaring(/\bconst REPLACEABLE_RULES\b/);
    expect(places).toEqual([
      'functions/drain/reconcile.ts',
      'functions/finalizer/objects/reconcile.ts',
      'functions/finalizer/termination/reconcile.ts',
      'functions/grace-period/reconcile.ts',
      'functions/repair/reconcile.ts',
    ]);
    expect(declaring(/\b(?:interface|type) ReplaceableRules\b(?! as)[^,}]*$/m)).toEqual(
      places.map(file => `${dirname(file)}/context.ts`),
    );
  });
});

describe('the way into a concern', () => {
  const routers = sources.filter(file => /^functions\/.*\/route\.ts$/.test(file));

  it('begins with its router, which makes the reconciler', () => {
    expect(routers.map(dirname)).toEqual([
      'functions/drain',
      'functions/finalizer',
      'functions/grace-period',
      'functions/repair',
      'functions/timer',
    ]);
    expect(routers.filter(file => !/^export function createReconciler\(/m.test(read(file)))).toEqual([]);
  });

  it('goes on to the loop of one subject, which knows no event', () => {
    const loops = sources.filter(file => /^functions\/.*\/reconcile\.ts$/.test(file));
    expect(loops.length).toBe(9);
    expect(loops.filter(file => /\bcreateReconciler\b|\bWatchedEvent\b|\bInboxMessage\b/.test(read(file)))).toEqual([]);
    const backwards = imports.filter(({ from, to }) => routers.includes(to) && !from.endsWith('/handler.ts'));
    expect(backwards.map(({ from, to }) => `${from} → ${to}`).filter(edge => edge.startsWith('functions/'))).toEqual(
      [],
    );
  });
});
