import { expect, it } from 'vitest';
import { createReporter, reportLasting, type Report } from '../../../shared/lifecycle/reporter.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import type { ObjectEvent } from '../../../shared/ports/event-recorder.ts';

const REPORT: Report = {
  about: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u1' } },
  decision: 'blocked',
  reason: 'ZoneOutage',
  message: 'most of the zone is ill',
  metric: { name: 'RepairDecision' },
  event: { type: 'Warning', reason: 'NodeRepairBlocked' },
};

async function saying(report: Report): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  const reporter = createReporter('repair', {
    audit: { write: ({ decision }: AuditRecord) => said.push(`line ${decision}`) },
    metrics: { count: name => void said.push(`metric ${name}`), milliseconds: () => undefined },
    events: { record: async ({ reason }: ObjectEvent) => void said.push(`Event ${reason}`) },
  });
  await reporter.report(report);
  return said;
}

it('says line, metric and Event, in this order', async () => {
  expect(await saying(REPORT)).toEqual(['line blocked', 'metric RepairDecision', 'Event NodeRepairBlocked']);
});

it('records the Event alone of what was said before', async () => {
  expect(await saying({ ...REPORT, isRepeated: true })).toEqual(['Event NodeRepairBlocked']);
});

it('tells what lasts from what is new, by its text, and repeats it when it is due', async () => {
  let texts = '';
  let isRepeatDue = true;
  const look = async (...all: readonly string[]): Promise<readonly unknown[]> => {
    const said: unknown[] = [];
    const report = (text: string) => async (isRepeated: boolean) =>
      void said.push(`${isRepeated ? '' : 'new '}${text}`);
    texts = await reportLasting(
      all.map(text => ({ text, report: report(text) })),
      texts,
      { isRepeatDue },
    );
    return said;
  };
  expect(await look('a\nb', 'c')).toEqual(['new a\nb', 'new c']);
  expect(texts).toBe('a b\nc');
  expect(await look('c', 'a\nb', 'd')).toEqual(['c', 'a\nb', 'new d']);
  isRepeatDue = false;
  expect(await look('a\nb', 'e')).toEqual(['new e']);
  expect(await look()).toEqual([]);
  expect(texts).toBe('');
  expect(await look('a\nb')).toEqual(['new a\nb']);
});
