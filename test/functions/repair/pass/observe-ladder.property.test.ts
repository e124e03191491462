/** Mode Observe shows of a whole ladder what Enforce would do: which act at which node, at what time and until when. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decidePass } from '../../../../functions/repair/pass/decide.ts';
import type { RepairAttempt } from '../../../../functions/repair/pass/pool.ts';
import { NEW_POOL } from '../../../../functions/repair/record.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import type { RepairAction } from '../../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, toIsoText, toTimestamp, type EpochMs } from '../../../../shared/domain/time.ts';
import { aCondition, aPass, aPoolNode, claimOf, READY, someRules, someSettings, T } from '../../../builders/repair.ts';

const ANNOTATION = 'karpenter.sh/nodeclaim-termination-timestamp';
const STEP = minutes(5);

const stories = fc.record({
  nodes: fc.array(
    fc.record({
      /** Ill since, in minutes before the start. */
      since: fc.integer({ min: 0, max: 60 }),
      /** Well again, in steps after it; none: never. */
      wellAfter: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  healthy: fc.integer({ min: 0, max: 5 }),
  before: fc.array(
    fc.record({ type: fc.constantFrom('Reboot', 'CustomResource'), timeout: fc.constantFrom(10, 15, 30) }),
    { maxLength: 3 },
  ),
  last: fc.constantFrom('Terminate', 'DrainThenTerminate', undefined),
  budget: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
});
type Story = typeof stories extends fc.Arbitrary<infer Value> ? Value : never;

function ladderOf({ before, last }: Story): readonly RepairAction[] {
  const first = before.map(({ type, timeout }): RepairAction =>
    type === 'Reboot'
      ? { type: 'Reboot', timeout: minutes(timeout) }
      : { type: 'CustomResource', timeout: minutes(timeout), template: 't' },
  );
  const end: RepairAction[] = last === undefined ? [] : [{ type: last, timeout: minutes(20) }];
  const ladder = [...first, ...end];
  return ladder.length === 0 ? [{ type: 'Terminate', timeout: minutes(20) }] : ladder;
}

function nodesAt({ nodes, healthy }: Story, step: number): readonly NodeView[] {
  const ill = nodes.map(({ since, wellAfter }, index) => {
    const isWell = wellAfter !== undefined && step >= wellAfter;
    const condition = isWell ? READY : aCondition('Ready', 'False', addDuration(T, minutes(-since)));
    return aPoolNode(`n${index}`, condition);
  });
  return [...ill, ...Array.from({ length: healthy }, (_, index) => aPoolNode(`h${index}`, READY))];
}

/** What the passes of two hours say: acts with their times, and what follows when they are over. */
function actsOf(story: Story, mode: 'Enforce' | 'Observe'): readonly string[] {
  const settings = {
    ...someSettings({ maxUnhealthy: '100%', zoneOutage: 'Off', freeze: 'Off' }),
    actions: ladderOf(story),
  };
  const { budget } = story;
  const limited = { ...settings, ...(budget !== undefined && { maxConcurrentRepairs: { count: budget } }) };
  const rules = someRules({}, { mode, settings: limited });
  const acts: string[] = [];
  const ended = new Set<string>();
  let state = NEW_POOL;
  for (let step = 0; step < 24; step++) {
    const now = (T + minutes(30) + step * STEP) as EpochMs;
    const nodes = nodesAt(story, step);
    const claims = nodes.map(node => claimOf(node, ended.has(node.uid) ? terminating(now) : {}));
    const decision = decidePass(aPass(nodes, { now, rules, claims, state }));
    for (const verdict of decision.verdicts) {
      if (verdict.kind === 'repair' || verdict.kind === 'wouldRepair') acts.push(describe(verdict.attempt, now));
      if (verdict.kind === 'recovered' || verdict.kind === 'exhausted')
        acts.push(`${verdict.kind} ${verdict.node.name} ${step}`);
    }
    const attempts = decision.state.attempts.map((attempt): RepairAttempt => {
      if (attempt.phase !== 'intended') return attempt;
      if (attempt.action === 'Terminate') ended.add(attempt.node.uid);
      return { ...attempt, phase: 'accepted' };
    });
    state = { ...decision.state, attempts };
  }
  return acts;
}

const terminating = (now: EpochMs) => ({ deletionTime: now, annotations: { [ANNOTATION]: toTimestamp(now) } });

function describe({ node, action, rung, number, until }: RepairAttempt, now: EpochMs): string {
  const end = until === undefined ? '' : ` until ${toIsoText(until)}`;
  return `${action} ${node.name}, rung ${rung}, attempt ${number}, at ${toIsoText(now)}${end}`;
}

it('of every ladder: the same acts at the same nodes and times', () => {
  let acts = 0;
  fc.assert(
    fc.property(stories, story => {
      // A node whose termination began goes in one mode and stays in the other: only without one it gets well.
      const ends = ladderOf(story).some(({ type }) => type === 'Terminate' || type === 'DrainThenTerminate');
      const nodes = ends ? story.nodes.map(({ since }) => ({ since, wellAfter: undefined })) : story.nodes;
      const settled = { ...story, nodes };
      const enforced = actsOf(settled, 'Enforce');
      acts += enforced.length;
      expect(actsOf(settled, 'Observe')).toEqual(enforced);
    }),
    { numRuns: 50 },
  );
  expect(acts).toBeGreaterThan(50);
});
