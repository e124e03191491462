/** Each concern has the same file for the same thought, so that who has read one of them finds their way in all. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sources } from './sources.ts';

const ROLES = ['reconcile', 'observe', 'decide', 'apply', 'record', 'report'] as const;
type Role = (typeof ROLES)[number];

/** The parts that look at one kind of subject, and the roles that they do not have. */
const PARTS: Readonly<Record<string, readonly Role[]>> = {
  'functions/drain': [],
  'functions/grace-period': [],
  'functions/repair': [],
  'functions/finalizer/termination': [],
  'functions/finalizer/finalizer-rules': [],
  'functions/finalizer/objects': [],
  'functions/finalizer/orphans': [],
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
