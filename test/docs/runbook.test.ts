/** The queries and commands of the runbook against what Curfew writes: somebody copies them at night. */
import { Logger } from '@aws-lambda-powertools/logger';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createAuditLog } from '../../shared/adapters/log/audit-log.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { operationOutputId, OPERATION_OUTPUTS, RECORDS_TABLE_OUTPUT } from '../../shared/contract/operation-outputs.ts';
import { TABLE } from '../../shared/contract/table.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { RetryableError } from '../../shared/errors.ts';

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
const queries = [...runbook.matchAll(/(?<=`|^\s+)filter [^`]+/gm)].map(([query]) => query.trim());

type Line = Record<string, unknown>;

/** Lines as they stand in a log group: an audit line, one of a failed message, one of a bug, Lambda's report of a run that timed out. */
async function linesOfAFunction(): Promise<Line[]> {
  const lines: Line[] = [];
  const take = (text: unknown): boolean => lines.push(JSON.parse(String(text))) > 0;
  const audit = createAuditLog({ serviceName: 'curfew-repair', fields: () => ({}), print: take, now: () => 0 });
  audit.write({
    function: 'repair',
    decision: 'blocked',
    reason: 'UnhealthyThreshold',
    message: 'm',
    kind: 'Node',
    name: 'NODE',
  });
  await Promise.resolve();
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockImplementation(take);
  const logger = new Logger({ serviceName: 'curfew-repair' });
  const error = new RetryableError('down', { reason: 'Status503' });
  logger.warn('message failed, will be redelivered', { reason: error.reason, outcomeUnknown: false, error });
  logger.error('message failed because of a bug, will be redelivered', { error: new TypeError('x') });
  vi.restoreAllMocks();
  return [...lines, { time: '2024-11-01T12:00:00Z', type: 'platform.report', record: { status: 'timeout' } }];
}

const valueOf = (line: Line, field: string): unknown =>
  field.split('.').reduce<unknown>((value, key) => (value as Line | undefined)?.[key], line);

/** Names of its fields, also of those inside of others. */
const fieldsOf = (line: Line): string[] =>
  Object.entries(line).flatMap(([name, value]) => [
    name,
    ...(typeof value === 'object' && value !== null ? Object.keys(value).map(key => `${name}.${key}`) : []),
  ]);

/** `filter` as Logs Insights evaluates it, of the forms that the runbook has. */
function matches(line: Line, condition: string): boolean {
  return condition.split(' or ').some(any =>
    any.split(' and ').every(each => {
      const present = /^ispresent\((\w+)\)$/.exec(each.trim())?.[1];
      if (present !== undefined) return valueOf(line, present) !== undefined;
      const [, field = '', text] = /^([\w.]+) = "([^"]*)"$/.exec(each.trim()) ?? [];
      invariant(field !== '', `a condition that is understood: ${each}`);
      return valueOf(line, field) === text;
    }),
  );
}

describe('the runbook', () => {
  it('has queries', () => expect(queries.length).toBeGreaterThanOrEqual(4));

  it.each(queries)('finds lines by %s', async query => {
    const [filter = '', ...commands] = query.split(/\s*\|\s*/);
    const found = (await linesOfAFunction()).filter(line => matches(line, filter.replace(/^filter /, '')));
    expect(found).not.toEqual([]);
    for (const command of commands) {
      const [, verb, rest = ''] = /^(fields|sort) (.+)$/.exec(command.trim()) ?? [];
      invariant(verb !== undefined, `a command that is understood: ${command}`);
      for (const field of rest.split(',').map(each => each.trim().replace(/ (asc|desc)$/, ''))) {
        // `@timestamp` is CloudWatch's own.
        if (!field.startsWith('@')) expect(found.flatMap(fieldsOf)).toContain(field);
      }
    }
  });

  it('queries the due index as it is', () => {
    const shards = Array.from({ length: TABLE.dueShards }, (_, shard) => shard).join(' ');
    const { name, partitionKey, sortKey, projectedAttributes } = TABLE.dueIndex;
    expect(runbook).toContain(`for shard in ${shards}; do`);
    expect(runbook).toContain(`--index-name ${name} `);
    expect(runbook).toContain(`'${partitionKey} = :shard'`);
    expect(runbook).toContain(`Items[].[${sortKey}.N,owner.S,id.S]`);
    expect(projectedAttributes).toEqual(expect.arrayContaining(['owner', 'id']));
    expect(runbook).toContain(`the output \`${RECORDS_TABLE_OUTPUT}\``);
  });

  it('stops every function by the outputs of the stack, and nothing else', () => {
    const suffix = /ends_with\(OutputKey, `(\w+)`\)/.exec(runbook)?.[1] ?? '?';
    const outputs = FUNCTION_NAMES.flatMap(name => OPERATION_OUTPUTS.map(output => operationOutputId(name, output)));
    const stopped = outputs.filter(output => output.endsWith(suffix));
    expect(stopped).toEqual(FUNCTION_NAMES.map(name => operationOutputId(name, 'EventSource')));
  });
});
