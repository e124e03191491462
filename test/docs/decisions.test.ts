/** Each decision says why, what, what follows, and what was not taken. Whatever refers to one refers to one that stands. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../architecture/sources.ts';

const FOLDER = join(root, 'docs/adr');
const FILES = readdirSync(FOLDER).filter(file => /^\d{4}-.*\.md$/.test(file));
const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const index = textOf('README.md');

describe('a decision', () => {
  it('stands somewhere', () => expect(FILES.length).toBeGreaterThan(20));

  it.each(FILES)('%s has its four parts, and a line in the index', file => {
    const sections = [...textOf(file).matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    const parts = ['Context', 'Decision', 'Consequences', 'Alternatives'];
    expect(sections.filter(title => parts.includes(title ?? ''))).toEqual(parts);
    const title = /^# \d{4} (.*)$/m.exec(textOf(file))?.[1];
    const status = /^Status: (.*)$/m.exec(textOf(file))?.[1];
    expect(index).toContain(`[${file.slice(0, 4)}](${file}) | ${title} | ${status} |`);
  });

  it('is there where code, documents or another decision refer to it', () => {
    const places = globSync(
      '{*.md,{bench,cli,deploy,docs,examples,forwarder,functions,infra,packages,runtime,shared,simulator,test}/**/*.{md,ts,yaml}}',
      {
        cwd: root,
      },
    ).filter(file => !file.includes('node_modules'));
    const numbers = new Set(FILES.map(file => file.slice(0, 4)));
    const missing = places.flatMap(file =>
      referredTo(readFileSync(join(root, file), 'utf8')).flatMap(number =>
        numbers.has(number) ? [] : [`${file}: ADR ${number}`],
      ),
    );
    expect(missing).toEqual([]);
  });
});

/** Numbers of decisions in a text, without those that a decision has replaced. */
function referredTo(text: string): readonly string[] {
  const inText = text.matchAll(/\bADRs? (\d{4})(?:,? (?:and )?(\d{4}))*/g);
  const inStatus = text.matchAll(/(?:adds to|changes|^Status: accepted;|\| accepted;) ((?:\d{4}(?:, )?)+)/gm);
  return [...inText, ...inStatus].flatMap(([found]) => found.match(/\d{4}/g) ?? []);
}
