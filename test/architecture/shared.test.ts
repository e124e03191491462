/** What stands in `shared/` is shared: at least two parts of the product use it, by themselves or through other shared files. */
import { describe, expect, it } from 'vitest';
import { imports, sources } from './sources.ts';

/** Adapters and their wiring are chosen by name, by the composition root of a part: one user is enough. */
const CHOSEN_BY_NAME = /^shared\/(adapters|lambda)\//;
/** Drains are asked for by the finalizer function and by the drain function: what both do stands here, though only one is deployed. */
const DRAINS: readonly string[] = [
  'shared/cluster/configuration.ts',
  'shared/contract/health-event.ts',
  'shared/contract/pod-disruption-budget.ts',
  'shared/domain/drain-plan.ts',
  'shared/domain/drain-resource-name.ts',
  'shared/domain/drainable-pod.ts',
  'shared/domain/forced-deletion.ts',
  'shared/lifecycle/steps.ts',
  'shared/pods/drain-pass.ts',
  'shared/pods/eviction.ts',
];
/** The schema of a policy block stands beside those of the other blocks. */
const POLICY_BLOCKS: readonly string[] = ['shared/contract/termination-schema.ts'];
const ALLOWED = new Set([...DRAINS, ...POLICY_BLOCKS]);

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
    const candidates = shared.filter(file => !CHOSEN_BY_NAME.test(file) && !ALLOWED.has(file));
    expect(candidates.length).toBeGreaterThan(50);
    const alone = candidates.filter(file => usersOf(file).size < 2);
    expect(alone.map(file => `${file}: ${[...usersOf(file)].join()}`)).toEqual([]);
  });

  it('that is allowed to have one user is there', () => {
    expect([...ALLOWED].filter(file => !sources.includes(file))).toEqual([]);
  });
});
