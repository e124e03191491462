/** `docs/observability.md` names every Event reason, decision and metric of the code, and nothing else. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { METRICS as FORWARDER_METRICS } from '../../forwarder/metric-names.ts';
import { GRACE_PERIOD_METRICS, METRICS, REPAIR_METRICS, TERMINATION_METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { auditReference, documentOf, rowsOf } from './observability.ts';
import { ROOT } from './documents.ts';
import { AUDIT_DECISIONS } from '../../simulator/scenario/audit-lines.ts';

const reference = documentOf('docs/observability.md');
const sourceOf = (folder: string): string =>
  globSync(`${folder}/**/*.ts`, { cwd: ROOT })
    .map(file => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n');
const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].toSorted();

describe('docs/observability.md', () => {
  it('has every reason of an Event, and no other', () => {
    // A termination that is over has no object left for an Event.
    const { terminationFinished: _, ...recorded } = EVENT_REASONS;
    expect(sorted(rowsOf(reference, 'Kubernetes Events').flatMap(([names = '']) => names.match(/\w+/g) ?? []))).toEqual(
      sorted(Object.values(recorded)),
    );
  });

  it.each(['drain', 'finalizer', 'grace-period', 'repair'])(
    'has every decision of %s that stands in the code',
    name => {
      const source = sourceOf(`functions/${name}`);
      const known = auditReference().filter(row => row.function === name);
      const written = [...source.matchAll(/decision: '(\w+)'/g)].map(([, decision = '']) => decision);
      expect(written.length).toBeGreaterThan(1);
      expect(sorted(written).filter(decision => !known.some(row => row.decision === decision))).toEqual([]);
      // What is wrong with a policy, and what is not served, is said by one function for all.
      const inCode = source + sourceOf('shared/policies') + sourceOf('shared/cluster');
      expect(known.filter(row => !inCode.includes(`'${row.decision}'`))).toEqual([]);
      const words = new Set((source + sourceOf('shared')).match(/\w+/g));
      expect(known.flatMap(({ reasons }) => reasons).filter(reason => !words.has(reason))).toEqual([]);
    },
  );

  it('has every metric of the functions, with docs/do-not-disrupt.md', () => {
    const tables = [...rowsOf(reference, 'Metrics'), ...rowsOf(documentOf('docs/do-not-disrupt.md'), 'Metrics')];
    const named = new Set(tables.flatMap(([names = '']) => names.match(/\w+/g) ?? []));
    const literals = [
      ...(sourceOf('functions') + sourceOf('shared')).matchAll(/(?:metric: \{ name: |count\()'(\w+)'/g),
    ];
    const counted = [METRICS, GRACE_PERIOD_METRICS, REPAIR_METRICS, TERMINATION_METRICS].flatMap(each =>
      Object.values(each),
    );
    expect(literals.length).toBeGreaterThan(5);
    expect([...counted, ...literals.map(([, name = '']) => name)].filter(name => !named.has(name))).toEqual([]);
  });
});

it('the audit lines that a scenario may expect are those of docs/observability.md', () => {
  const rows = auditReference().map(row => [
    row.function,
    row.decision,
    [...row.reasons, ...(row.isOpen ? ['…'] : [])],
  ]);
  const known = Object.entries(AUDIT_DECISIONS).flatMap(([name, decisions]) =>
    Object.entries(decisions).map(([decision, reasons]) => [name, decision, reasons]),
  );
  expect(known).toEqual(rows);
});

describe('docs/forwarder.md', () => {
  it('has every metric of the forwarder', () => {
    const { text } = documentOf('docs/forwarder.md');
    const snake = (name: string): string => name.replaceAll(/(?<!^)[A-Z]/g, letter => `_${letter}`).toLowerCase();
    const counters = Object.keys(FORWARDER_METRICS).map(snake);
    const gauges = [
      ...readFileSync(join(ROOT, 'forwarder/prometheus.ts'), 'utf8').matchAll(
        /gauge\(\s*registry,\s*\{\s*name: '(\w+)'/g,
      ),
    ].map(([, name = '']) => name);
    expect(gauges.length).toBeGreaterThan(3);
    expect([...counters, ...gauges].filter(name => !new RegExp(`\\b${name}(_total|_seconds)?\\b`).test(text))).toEqual(
      [],
    );
  });
});
