/** What stands in `shared/` is shared: at least two parts of the product use it, by themselves or through other shared files. */
import { describe, expect, it } from 'vitest';
import { imports, sources } from './sources.ts';

/** Adapters are chosen by name, by the composition root of a part: one user is enough. */
const CHOSEN_BY_NAME = /^shared\/adapters\//;

/** `functions/repair`, `forwarder`, `infra`, `cli`, …; undefined for what is no part of the product. */
function partOf(file: string): string | undefined {
  const [top = '', below = ''] = file.split('/');
  if (top === 'functions' || top === 'packages') return `${top}/${below}`;
  return ['forwarder', 'infra', 'deploy', 'cli', 'runtime'].includes(top) ? top : undefined;
}

/** The parts that reach a shared file. */
function usersOf(file: string): ReadonlySet<string> {
  const reached = new Set([file]);
  for (const to of reached) {
    for (const { from } of imports.filter(edge => edge.to === to)) if (from.startsWith('shared/')) reached.add(from);
  }
  const parts = imports.filter(({ to }) => reached.has(to)).map(({ from }) => partOf(from));
  return new Set(parts.filter(part => part !== undefined));
}

describe('a file in shared/', () => {
  const shared = sources.filter(file => file.startsWith('shared/'));

  it('is used by at least two parts', () => {
    const candidates = shared.filter(file => !CHOSEN_BY_NAME.test(file));
    expect(candidates.length).toBeGreaterThan(50);
    const alone = candidates.filter(file => usersOf(file).size < 2);
    expect(alone.map(file => `${file}: ${[...usersOf(file)].join()}`)).toEqual([]);
  });
});
