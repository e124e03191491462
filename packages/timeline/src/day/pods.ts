/** The pods of a node, and its protection. */
import { textAt, timeAt, type ObjectHistory } from './objects.ts';
import type { Decided } from './repair.ts';
import { Stretches } from './spans.ts';
import type { Bar, PodRow } from './types.ts';

const PROTECTION = 'karpenter.sh/do-not-disrupt';

/** @param life of the node: `to` is its end, or that of the trace */
export function podsOf(
  histories: readonly ObjectHistory[],
  life: { readonly from: number; readonly to: number; readonly isOpen: boolean },
  taken: ReadonlySet<string>,
): readonly PodRow[] {
  return histories.flatMap(({ namespace = '', name, versions }) => {
    const begun = versions.find(
      ({ object, time }) => object !== undefined && time < life.to && textAt(object, 'spec', 'nodeName') !== undefined,
    );
    if (begun === undefined) return [];
    const gone = versions.find(({ object, time }) => object === undefined && time >= begun.time);
    const deleted = versions
      .map(({ object, time }) => (textAt(object, 'metadata', 'deletionTimestamp') === undefined ? undefined : time))
      .find(Boolean);
    const protection = versions
      .map(({ object }) => textAt(object, 'metadata', 'annotations', PROTECTION))
      .find(Boolean);
    const to = Math.min(gone?.time ?? life.to, life.to);
    return [
      {
        namespace,
        name,
        protection,
        deleted,
        from: Math.max(begun.time, life.from),
        to,
        isOpen: gone === undefined && life.isOpen,
        isTaken: taken.has(`${namespace}/${name}`),
        line: begun.line,
      },
    ];
  });
}

/** @param lines the decisions of the grace period about one node, in order */
export function protectionOf(
  lines: readonly Decided[],
  until: { readonly time: number; readonly isOpen: boolean },
): readonly Bar[] {
  const stretches = new Stretches<Omit<Bar, 'from' | 'to' | 'isOpen'>>();
  for (const { index, time, line } of lines) {
    if (line.decision === 'hold') {
      const next = {
        kind: 'protection' as const,
        label: 'protected',
        detail: line.message,
        line: index,
        until: timeAt(line.details, 'protectedUntil'),
      };
      if (stretches.open === undefined) stretches.begin(time, next);
      else stretches.extend(next);
    } else if (line.decision === 'release' || line.decision === 'disown' || line.decision === 'close')
      stretches.end(time);
  }
  stretches.end(until.time, until.isOpen);
  return stretches.closed.map(bar => ({ ...bar, to: Math.min(bar.to, until.time) }));
}
