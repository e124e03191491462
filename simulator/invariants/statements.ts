/** Which conditions a repair block takes for an illness, and how long it tolerates them: told from the raw block. */
import { RE2JS } from 're2js';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { conditionOf, WATCHED } from './illnesses.ts';
import { dig, listOf, millisecondsOf, textOf } from './reading.ts';

export interface Statement {
  readonly type: string;
  readonly status: string;
  /** Milliseconds. */
  readonly toleration: number;
  readonly reason?: RE2JS | undefined;
}

/** A toleration of a year and more takes the statement out. */
const YEAR = 8_760 * 3_600_000;

const tolerationOf = (value: unknown): number | undefined =>
  value === 'Never' ? Infinity : (millisecondsOf(value) ?? undefined);

/** Those that count: without a block the provider's. */
export function statementsOf(block: unknown): readonly Statement[] {
  const overrides = new Map<string, number | undefined>();
  for (const entry of listOf(dig(block, 'policies')))
    overrides.set(String(dig(entry, 'conditionType')), tolerationOf(dig(entry, 'toleration')));
  const fallback = tolerationOf(dig(block, 'defaultTolerationDuration'));
  const provided = WATCHED.map(([type, status, providers]) => ({
    type,
    status,
    toleration: overrides.get(type) ?? fallback ?? providers,
  }));
  const own = listOf(dig(block, 'conditions')).map(entry => {
    const reason = textOf(dig(entry, 'reason'));
    return {
      type: String(dig(entry, 'type')),
      status: String(dig(entry, 'status')),
      toleration: tolerationOf(dig(entry, 'toleration')) ?? Infinity,
      reason: reason === undefined ? undefined : RE2JS.compile(reason),
    };
  });
  return [...provided, ...own].filter(({ toleration }) => toleration < YEAR);
}

function isStatedOf(node: KubernetesObject, { type, status, reason }: Statement): boolean {
  const condition = conditionOf(node, type);
  return condition?.['status'] === status && (reason === undefined || reason.test(textOf(condition['reason']) ?? ''));
}

/** Those that hold of the node. */
export const illOf = (node: KubernetesObject, statements: readonly Statement[]): readonly Statement[] =>
  statements.filter(statement => isStatedOf(node, statement));
