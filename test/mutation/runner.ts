/**
 * Runs each test as it is, twice, and keeps it. After the last one each mutant is tried against the tests that reach it, the fastest first, until one fails.
 * All this is in one process: a global says which mutant is active. Vitest loads this file by its path, before the tests and what they test.
 */
import fc from 'fast-check';
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestRunner, type RunnerTestCase, type RunnerTestSuite } from 'vitest';
import type { Outcome, Plan } from './mutant.ts';

/** Of processor time: a slower test would run for too many mutants. */
const SLOWEST_MS = 50;
/** A test that waits for what never comes has noticed the mutant. */
const NEVER_MS = 2_000;
/** A loop that a mutant never lets end: so many times what the test needs. */
const HITS = 100;

/** What the code that Stryker writes reads and keeps. */
interface Switch {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number;
  hitLimit?: number;
  mutantCoverage: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
}

interface SmallTest {
  readonly run: () => unknown;
  readonly cost: number;
  /** How often it reaches each mutant. */
  readonly hits: Readonly<Record<string, number>>;
}

const { CURFEW_MUTATION_PLAN: planFile = '', CURFEW_MUTATION_OUTCOME: outcomeFile = '' } = process.env;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `run.ts` has written it
const plan = JSON.parse(readFileSync(planFile, 'utf8')) as Plan;
const mutation: Switch = { mutantCoverage: { static: {}, perTest: {} } };
Object.assign(globalThis, { __stryker__: mutation });
const tests: SmallTest[] = [];
const leftOut: string[] = [];
let filesDone = 0;

// Each run tries the same cases, and a case that fails is not made smaller.
fc.configureGlobal({ seed: 1, endOnFailure: true });
registerHooks({
  load(url, context, nextLoad) {
    const source = plan.sources[url];
    return source === undefined ? nextLoad(url, context) : { format: 'module-typescript', source, shortCircuit: true };
  },
});

export default class MutationRunner extends TestRunner {
  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    mutation.currentTestId = test.id;
    try {
      await run();
    } finally {
      mutation.currentTestId = undefined;
    }
    const hits = mutation.mutantCoverage.perTest[test.id];
    if (hits === undefined) return;
    const began = process.cpuUsage();
    const isFailed = await fails(run);
    const { user, system } = process.cpuUsage(began);
    const cost = (user + system) / 1_000;
    if (isFailed || cost > SLOWEST_MS) leftOut.push(test.fullTestName);
    else tests.push({ run, cost, hits });
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if ('filepath' in suite) filesDone += 1;
    if (filesDone < plan.tests.length) return;
    tests.sort((a, b) => a.cost - b.cost);
    const reached = [...new Set(tests.flatMap(({ hits }) => Object.keys(hits)))];
    const killed: string[] = [];
    for (const id of reached) if (await isNoticed(id)) killed.push(id);
    const atLoad = Object.keys(mutation.mutantCoverage.static);
    writeFileSync(outcomeFile, JSON.stringify({ reached, atLoad, killed, leftOut } satisfies Outcome));
  }
}

async function isNoticed(id: string): Promise<boolean> {
  for (const { run, hits } of tests) {
    const count = hits[id];
    if (count === undefined) continue;
    Object.assign(mutation, { activeMutant: id, hitCount: 0, hitLimit: count * HITS });
    const isFailed = await fails(run);
    mutation.activeMutant = undefined;
    if (isFailed) return true;
  }
  return false;
}

async function fails(run: () => unknown): Promise<boolean> {
  const over = new AbortController();
  try {
    const result = run();
    if (!(result instanceof Promise)) return false;
    const late = sleep(NEVER_MS, true, { signal: over.signal }).catch(() => true);
    return await Promise.race([result.then(() => false), late]);
  } catch {
    return true;
  } finally {
    over.abort();
  }
}
