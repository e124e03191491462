/** Each decision says why, what, what follows, and what was not taken. */
import { readdirSync, readFileSync } from 'node:fs';
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
    const isSuperseded = /^Status: superseded/m.test(textOf(file));
    const parts = ['Context', 'Decision', 'Consequences', ...(isSuperseded ? [] : ['Alternatives'])];
    expect(sections.filter(title => parts.includes(title ?? ''))).toEqual(parts);
    const title = /^# \d{4} (.*)$/m.exec(textOf(file))?.[1];
    expect(index).toContain(`[${file.slice(0, 4)}](${file}) | ${title} |`);
  });
});
