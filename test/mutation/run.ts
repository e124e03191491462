/** The tests of a concern against all mutants of its files, in one process of Vitest. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import type { Outcome, Plan } from './mutant.ts';

const RUNNER = fileURLToPath(new URL('runner.ts', import.meta.url));

/** @throws Error where a test fails without a mutant */
export async function runTests(plan: Plan): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-mutation-'));
  const planFile = join(folder, 'plan.json');
  const outcomeFile = join(folder, 'outcome.json');
  writeFileSync(planFile, JSON.stringify(plan));
  // The worker inherits them.
  process.env['CURFEW_MUTATION_PLAN'] = planFile;
  process.env['CURFEW_MUTATION_OUTCOME'] = outcomeFile;
  try {
    const vitest = await startVitest('test', [...plan.tests], {
      config: false,
      watch: false,
      include: [...plan.tests],
      runner: RUNNER,
      reporters: [{}],
      isolate: false,
      maxWorkers: 1,
      testTimeout: 0,
      experimental: { viteModuleRunner: false, nodeLoader: false },
    });
    const failed = vitest.state.getFiles().filter(({ result }) => result?.state !== 'pass');
    await vitest.close();
    if (failed.length > 0) throw new Error(`fail without a mutant: ${failed.map(({ name }) => name).join(', ')}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `runner.ts` has written it
    return JSON.parse(readFileSync(outcomeFile, 'utf8')) as Outcome;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
