/** The pages that the prose check reads, and what each kind of page may ask of its reader. */
import { globSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** `guide`: read from top to bottom. `reference`: looked up. `internals`: for contributors. */
export type Kind = 'guide' | 'reference' | 'internals';

export interface Limits {
  readonly sentenceWords: number;
  readonly itemWords: number;
  readonly cellWords: number;
  /** Absent: a page is as long as its subject. */
  readonly lines?: number;
}

export const LIMITS: Readonly<Record<Kind, Limits>> = {
  guide: { sentenceWords: 25, itemWords: 40, cellWords: 40, lines: 150 },
  reference: { sentenceWords: 35, itemWords: 40, cellWords: 60 },
  internals: { sentenceWords: 35, itemWords: 40, cellWords: 60, lines: 150 },
};

export interface Page {
  readonly file: string;
  readonly kind: Kind;
}

/** Its words are those of the definitions, which stand beside a name. */
const GENERATED = 'docs/fields.md';

const guides = ['README.md', ...globSync('docs/guides/*.md', { cwd: ROOT }).toSorted()];
const references = globSync('docs/*.md', { cwd: ROOT }).toSorted();
const internals = [
  'AGENTS.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'simulator/README.md',
  'test/control-plane/README.md',
  ...globSync('docs/internals/*.md', { cwd: ROOT }).toSorted(),
];

export const PAGES: readonly Page[] = [
  ...guides.map(file => ({ file, kind: 'guide' as const })),
  ...references.map(file => ({ file, kind: 'reference' as const })),
  ...internals.map(file => ({ file, kind: 'internals' as const })),
].filter(({ file }) => file !== GENERATED);
