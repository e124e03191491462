/** The Grafana dashboards ask for what the forwarder and the functions say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPrometheusMetrics } from '../../forwarder/prometheus.ts';
import { AUDIT_DECISIONS } from '../../simulator/scenario/audit-lines.ts';

const dashboardSchema = z.object({
  uid: z.string(),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string(),
      targets: z.array(z.object({ expr: z.string().optional(), expression: z.string().optional() })).min(1),
    }),
  ),
});
const textOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../deploy/grafana/${name}.json`), 'utf8');
const read = (name: string) => dashboardSchema.parse(JSON.parse(textOf(name)));

describe.each(['forwarder', 'audit'])('dashboard %s', name => {
  it('uses the variables that it has, and numbers each panel once', () => {
    const { templating, panels } = read(name);
    const known = templating.list.map(each => each.name);
    const used = [...textOf(name).matchAll(/\$\{?([a-z]\w*)/g)].map(([, variable = '']) => variable);
    expect(new Set(used)).toEqual(new Set(known));
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

it('the dashboard of the forwarder names metrics and labels that there are', async () => {
  const { registry, sink } = createPrometheusMetrics(() => undefined);
  sink.milliseconds('PublishDelay', 1);
  const all = await registry.getMetricsAsJSON();
  const names = new Set(all.flatMap(({ name }) => [name, `${name}_bucket`]));
  const queries = read('forwarder').panels.flatMap(({ targets }) => targets.map(({ expr = '' }) => expr));
  const asked = queries.flatMap(query => query.match(/\b(curfew_forwarder|process)_\w+/g) ?? []);
  expect(asked.length).toBeGreaterThanOrEqual(queries.length);
  expect(asked.filter(each => !names.has(each))).toEqual([]);
});

it('the dashboard of audit lines names decisions that are made', () => {
  const decisions = new Set(Object.values(AUDIT_DECISIONS).flatMap(each => Object.keys(each)));
  const queries = read('audit').panels.flatMap(({ targets }) => targets.map(({ expression = '' }) => expression));
  for (const query of queries) expect(query).toMatch(/^filter ispresent\(audit\)/);
  const asked = queries.flatMap(query =>
    [...query.matchAll(/decision in (\[[^\]]*\])/g)].flatMap(([, list = '[]']): string[] => JSON.parse(list)),
  );
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.filter(each => !decisions.has(each))).toEqual([]);
});
