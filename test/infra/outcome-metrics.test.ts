/** The metric filters and saved queries against the lines that functions write, made by what writes them. */
import { Metrics } from '@aws-lambda-powertools/metrics';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toConstructId } from '../../packages/curfew-cdk/src/construct-id.ts';
import { OUTCOMES, type OutcomeName } from '../../packages/curfew-cdk/src/outcome-metrics.ts';
import { SAVED_QUERIES } from '../../packages/curfew-cdk/src/saved-queries.ts';
import { createAuditLog } from '../../shared/adapters/log/audit-log.ts';
import { createMetricSink } from '../../shared/adapters/log/metrics.ts';
import { DRAIN_METRICS, REPAIR_METRICS, TERMINATION_METRICS } from '../../shared/contract/metrics.ts';
import type { AuditRecord } from '../../shared/ports/audit-log.ts';
import { AUDIT_DECISIONS } from '../../simulator/scenario/audit-lines.ts';
import { synthesize } from './synthesized.ts';

type Line = Readonly<Record<string, unknown>>;

const record = {
  function: 'repair',
  decision: 'repair',
  reason: 'TolerationElapsed',
  message: 'm',
  kind: 'Node',
  name: 'n1',
} as const;

async function auditLine(given: Partial<AuditRecord>): Promise<Line> {
  const lines: string[] = [];
  const log = createAuditLog({ serviceName: 's', fields: () => ({}), print: text => lines.push(text), now: () => 0 });
  log.write({ ...record, ...given });
  await Promise.resolve();
  return JSON.parse(lines.join(''));
}

function metricLine(name: string, dimensions: Readonly<Record<string, string>>, value = 1): Line {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation(text => lines.push(String(text)) > 0);
  createMetricSink(new Metrics({ namespace: 'Curfew', serviceName: 's' })).count(name, value, dimensions);
  vi.restoreAllMocks();
  return JSON.parse(lines.join(''));
}
afterEach(() => vi.restoreAllMocks());

const valueAt = (line: Line, field: string): unknown =>
  field.split('.').reduce<unknown>((value, key) => (value as Line | undefined)?.[key], line);

/** Whether a filter of CloudWatch Logs takes a line: the forms that are used here, of which a number, a text and `true` compare with their own kind alone. */
function takes(pattern: string, line: Line): boolean {
  const holds = (term: string): boolean => {
    const [, field = '', operator, text = ''] = /^\$\.([\w.]+) (>=|=|!=|IS) (.+)$/.exec(term.trim()) ?? [];
    if (operator === undefined) throw new Error(`a term that is not understood: ${term}`);
    const value = valueAt(line, field);
    if (operator === 'IS') return text === 'TRUE' && value === true;
    if (operator === '>=') return typeof value === 'number' && value >= Number(text);
    const wanted = JSON.parse(text);
    // A field that is not there matches no comparison.
    return typeof value === 'string' && (operator === '=' ? value === wanted : value !== wanted);
  };
  const inner = /^\{ (.+) \}$/.exec(pattern)?.[1] ?? '';
  const any = (terms: string): boolean => terms.split(' || ').some(holds);
  return inner.split(' && ').every(terms => any(terms.replace(/^\(|\)$/g, '')));
}

const started = (action: string) => metricLine(REPAIR_METRICS.started, { nodePool: 'web', condition: 'Ready', action });
const held = (reason: string, nodes = 3) => metricLine(REPAIR_METRICS.held, { nodePool: 'web', reason }, nodes);
const timedOut = metricLine(TERMINATION_METRICS.hookTimedOut, { onTimeout: 'Abort' });

describe('an outcome is counted', () => {
  it.each<[OutcomeName, Line | Promise<Line>, boolean]>([
    ['TerminatingRepairs', started('Terminate'), true],
    ['TerminatingRepairs', started('Reboot'), false],
    ['TerminatingRepairs', auditLine({ details: { action: 'Terminate' } }), false],
    ['RepairsHeld', held('UnhealthyThreshold'), true],
    ['RepairsHeld', held('DoNotRepair'), false],
    ['RepairsHeld', held('NoNodeClaim'), false],
    ['RepairsHeld', held('ActionRefused'), false],
    ['RepairsHeld', held('ActionsExhausted'), false],
    ['RepairsHeld', metricLine(REPAIR_METRICS.underWay, { nodePool: 'web' }), false],
    ['RepairsStuck', auditLine({ decision: 'exhausted', reason: 'ActionsExhausted' }), true],
    ['RepairsStuck', metricLine(REPAIR_METRICS.decision, { decision: 'exhausted', nodePool: 'web' }), false],
    ['ConfigurationRefused', auditLine({ decision: 'refuse', reason: 'InvalidRepairConfiguration' }), true],
    ['ConfigurationRefused', auditLine({ decision: 'refused', reason: 'InvalidConfiguration' }), true],
    ['ConfigurationRefused', auditLine({ decision: 'refused', reason: 'ActionRefused' }), false],
    ['ConfigurationRefused', auditLine({}), false],
    // A webhook that denies a change, and EC2 that denies the end of an instance: no message fails, so nothing else rings.
    ['ChangesRefused', auditLine({ decision: 'wait', reason: 'NodeChangeRefused' }), true],
    ['ChangesRefused', auditLine({ decision: 'refused', reason: 'ChangeRefused' }), true],
    ['ChangesRefused', auditLine({ decision: 'refused', reason: 'ActionRefused' }), true],
    ['ChangesRefused', auditLine({ decision: 'retry', reason: 'InstanceTerminationFailed' }), true],
    ['ChangesRefused', auditLine({ decision: 'refused', reason: 'ReplacementUnavailable' }), false],
    ['ChangesRefused', auditLine({}), false],
    ['DrainsStuck', auditLine({ function: 'drain', decision: 'wait', reason: 'DrainStuck' }), true],
    ['DrainsStuck', auditLine({ function: 'drain', decision: 'wait', reason: 'FailedDraining' }), false],
    ['NodesNotReplaced', auditLine({ decision: 'warn', reason: 'NodesNotReplaced', kind: 'NodePool' }), true],
    ['NodesNotReplaced', auditLine({ decision: 'warn', reason: 'TransitionTimeDoubted' }), false],
    ['HooksTimedOut', timedOut, true],
    ['HooksTimedOut', auditLine({ decision: 'hookTimedOut' }), false],
  ])('%s', async (name, line, expected) => {
    expect(takes(OUTCOMES[name].pattern, await line)).toBe(expected);
  });

  it('with the number that the line has, where one line says several', () => {
    expect(valueAt(held('RampUp', 7), OUTCOMES.RepairsHeld.value.replace('$.', ''))).toBe(7);
  });

  it('in the log groups of the functions that say it, under a namespace of the deployment', () => {
    const filters = Object.values(
      synthesize({ name: 'Staging' }).functionsTemplate.findResources('AWS::Logs::MetricFilter'),
    ).map(({ Properties }) => Properties);
    for (const [name, { of }] of Object.entries(OUTCOMES)) {
      const own = filters.filter(({ MetricTransformations: [{ MetricName }] }) => MetricName === name);
      expect(new Set(own.map(({ LogGroupName }) => LogGroupName.Ref.replace(/Logs\w+$/, '')))).toEqual(
        new Set(of.map(toConstructId)),
      );
      for (const { MetricTransformations } of own) {
        expect(MetricTransformations).toMatchObject([{ MetricNamespace: 'Curfew/Staging' }]);
        // A value where nothing matched would cost as much as a metric that is in use.
        expect(MetricTransformations[0]).not.toHaveProperty('DefaultValue');
      }
    }
  });

  it('with the status that a drain ends in', () => {
    const alarms = Object.values(synthesize().functionsTemplate.findResources('AWS::CloudWatch::Alarm'));
    const alarm = alarms.find(({ Properties }) => Properties.MetricName === DRAIN_METRICS.completed);
    expect(alarm?.['Properties'].Dimensions).toContainEqual({ Name: 'status', Value: 'Failed' });
  });
});

describe('a saved query', () => {
  const fields = ['function', 'decision', 'reason', 'kind', 'namespace', 'name', 'message', 'service'];
  const ofDetails = ['details.decidedBy.name', 'details.nodePool', 'details.status'];
  const ofErrors = ['error.name', 'error.message'];

  it.each(Object.entries(SAVED_QUERIES))('%s: asks for what lines have', (_, commands) => {
    const words =
      commands
        .join(' ')
        .replaceAll(/"[^"]*"|\/[^/]*\//g, '')
        .match(/(?<![@\w])[a-z][\w.]*/g) ?? [];
    const verbs = [
      'filter',
      'ispresent',
      'audit',
      'and',
      'or',
      'in',
      'like',
      'sort',
      'asc',
      'desc',
      'fields',
      'stats',
      'count',
      'by',
    ];
    expect(words.filter(word => ![...verbs, ...fields, ...ofDetails, ...ofErrors].includes(word))).toEqual([]);
  });

  it.each(Object.entries(SAVED_QUERIES))('%s: names decisions that are made', (_, commands) => {
    const [, text = '[]'] = /decision in (\[[^\]]*\])/.exec(commands[0] ?? '') ?? [];
    const of = /function = "([\w-]+)"/.exec(commands[0] ?? '')?.[1];
    const made = Object.entries(AUDIT_DECISIONS).flatMap(([name, decisions]) =>
      of === undefined || of === name ? Object.keys(decisions) : [],
    );
    expect(JSON.parse(text).filter((decision: string) => !made.includes(decision))).toEqual([]);
  });

  it('stands under the name of its deployment, over the log groups of all functions', () => {
    const saved = synthesize({ name: 'Staging' }).functionsTemplate.findResources('AWS::Logs::QueryDefinition');
    expect(Object.values(saved).map(({ Properties }) => Properties.Name)).toEqual(
      Object.keys(SAVED_QUERIES).map(name => `Staging/${name}`),
    );
    for (const { Properties } of Object.values(saved)) expect(Properties.LogGroupNames).toHaveLength(5);
  });
});
