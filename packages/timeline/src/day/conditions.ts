/** When a node was unhealthy: its conditions where the trace has them, else what repair said about them. */
import { conditionsOf, timeAt, type Version } from './objects.ts';
import { conditionOf, type Decided } from './repair.ts';
import { Stretches } from './spans.ts';
import type { Bar } from './types.ts';

interface Illness {
  readonly label: string;
  readonly line: number;
}

/** A node that is not ready is unhealthy under every rule; other conditions count once repair has named them. */
export const ALWAYS_UNHEALTHY: ReadonlySet<string> = new Set(['Ready=False', 'Ready=Unknown']);

/**
 * @param unhealthy repair conditions that count, as `Ready=Unknown`
 * @param until the end of the node, or of the trace
 */
export function unhealthyBars(
  { versions, decided }: { readonly versions: readonly Version[]; readonly decided: readonly Decided[] },
  unhealthy: ReadonlySet<string>,
  until: { readonly time: number; readonly isOpen: boolean },
): readonly Bar[] {
  const stretches = new Stretches<Illness>();
  if (versions.length === 0) fromDecisions(decided, stretches);
  for (const [index, { time, line, object }] of versions.entries()) {
    const ill = conditionsOf(object).find(({ type, status }) => unhealthy.has(`${type}=${status}`));
    const label = ill && `${ill.type}=${ill.status}`;
    if (label === stretches.open?.label) continue;
    if (label === undefined) stretches.end(time);
    // It may have been so before the trace begins; drawn is what lies within it.
    else
      stretches.begin(
        index === 0 ? time : Math.min(time, Math.max(ill?.since ?? time, versions[index - 1]?.time ?? time)),
        { label, line },
      );
  }
  stretches.end(until.time, until.isOpen);
  return stretches.closed.map(each => ({ ...each, kind: 'unhealthy' as const, detail: each.label }));
}

function fromDecisions(decided: readonly Decided[], stretches: Stretches<Illness>): void {
  for (const { index, time, line } of decided) {
    const label = conditionOf(line.details);
    if (line.decision === 'ignore' || line.decision === 'recovered' || line.decision === 'close') stretches.end(time);
    else if (label !== '' && label !== stretches.open?.label)
      stretches.begin(Math.min(time, timeAt(line.details, 'lastTransitionTime') ?? time), { label, line: index });
  }
}
