import { describe, expect, it } from 'vitest';
import { count, MAX_SAID, newsOf, REPEAT_AFTER, say } from '../../../../functions/repair/pass/say.ts';
import type { Verdict } from '../../../../functions/repair/pass/verdict.ts';
import { NEW_POOL } from '../../../../functions/repair/record.ts';
import { addDuration, seconds } from '../../../../shared/domain/time.ts';
import type { Report } from '../../../../shared/lifecycle/reporter.ts';
import { aPoolNode, T } from '../../../builders/repair.ts';

type Reason = Extract<Verdict, { kind: 'blocked' }>['reason'];
const blocked = (name: string, reason: Reason = 'UnhealthyThreshold'): Verdict => ({
  kind: 'blocked',
  node: aPoolNode(name),
  reason,
  message: 'too many',
});
const many = (count: number): readonly Verdict[] => Array.from({ length: count }, (_, index) => blocked(`n${index}`));
const namesOf = (verdicts: readonly Verdict[]): readonly string[] => verdicts.map(({ node }) => node.name);
const NOTHING_SAID = NEW_POOL.said;

describe('newsOf', () => {
  it('says a verdict once, and again when its reason is another one', () => {
    const first = newsOf([blocked('n1')], NOTHING_SAID, T);
    expect(namesOf(first.verdicts)).toEqual(['n1']);
    const same = newsOf([blocked('n1')], first.said, addDuration(T, seconds(1)));
    expect(same).toMatchObject({ verdicts: [], repeated: [] });
    const other = newsOf([blocked('n1', 'ZoneOutage')], same.said, addDuration(T, seconds(2)));
    expect(namesOf(other.verdicts)).toEqual(['n1']);
    const gone = newsOf([], other.said, addDuration(T, seconds(3)));
    expect(namesOf(newsOf([blocked('n1')], gone.said, addDuration(T, seconds(4))).verdicts)).toEqual(['n1']);
  });

  it('repeats after five minutes what is still so', () => {
    const first = newsOf([blocked('n1')], NOTHING_SAID, T);
    const later = newsOf([blocked('n1')], first.said, addDuration(T, REPEAT_AFTER));
    expect({ news: namesOf(later.verdicts), repeated: namesOf(later.repeated) }).toEqual({
      news: [],
      repeated: ['n1'],
    });
  });

  it('leaves what is too much for one pass to the next ones, and forgets none', () => {
    const verdicts = many(MAX_SAID * 2 + 1);
    const said = new Set<string>();
    let { said: before } = NEW_POOL;
    for (let pass = 0; pass < 3; pass++) {
      const news = newsOf(verdicts, before, addDuration(T, seconds(pass)));
      for (const name of namesOf(news.verdicts)) said.add(name);
      expect(news.hasMore).toBe(pass < 2);
      before = news.said;
    }
    expect(said.size).toBe(verdicts.length);
  });

  it('lets each have its turn in the repetitions', () => {
    const verdicts = many(MAX_SAID * 2);
    let before = newsOf(verdicts, newsOf(verdicts, NOTHING_SAID, T).said, T).said;
    const repeated = new Set<string>();
    for (let round = 1; round <= 2; round++) {
      const news = newsOf(verdicts, before, addDuration(T, (REPEAT_AFTER * round) as typeof REPEAT_AFTER));
      for (const name of namesOf(news.repeated)) repeated.add(name);
      before = news.said;
    }
    expect(repeated.size).toBe(verdicts.length);
  });
});

describe('say', () => {
  it('reports what is news once a run, records the Events of the rest again, and counts what is held by reason', async () => {
    const reports: Report[] = [];
    const counts: unknown[] = [];
    let changes = 0;
    const deps = {
      reporter: { report: async (report: Report) => void reports.push(report) },
      events: { record: () => Promise.reject(new Error('the reporter records them')) },
      metrics: {
        count: (...count: readonly unknown[]) => void counts.push(count),
        milliseconds: () => undefined,
      },
      repairsChanged: async () => {
        changes += 1;
      },
    };
    const verdicts = [blocked('n1'), blocked('n2'), blocked('n3', 'ZoneOutage')];
    const before = newsOf(verdicts.slice(0, 1), NOTHING_SAID, T).said;
    const news = newsOf(verdicts, before, addDuration(T, REPEAT_AFTER));
    const states = { before: { ...NEW_POOL, said: before }, after: { ...NEW_POOL, said: news.said } };
    const place = { pool: 'default', source: 'NodePool default' };
    const told = new Set<string>();
    for (let look = 1; look <= 2; look++) await say(deps, verdicts, news, { place, told });
    await count(deps, verdicts, place, states);
    expect(reports.map(({ about, reason, isRepeated }) => [about.metadata.name, reason, isRepeated])).toEqual([
      ['n2', 'UnhealthyThreshold', undefined],
      ['n3', 'ZoneOutage', undefined],
      ['n1', 'UnhealthyThreshold', true],
    ]);
    expect(counts).toEqual([
      ['RepairHeld', 2, { nodePool: 'default', reason: 'UnhealthyThreshold' }],
      ['RepairHeld', 1, { nodePool: 'default', reason: 'ZoneOutage' }],
      ['RepairsUnderWay', 0, { nodePool: 'default' }],
    ]);
    expect(changes).toBe(1);
  });
});
