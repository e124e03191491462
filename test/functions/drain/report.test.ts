/** What the audit log has of requests that are called off. */
import { expect, it } from 'vitest';
import { reportCancelled } from '../../../functions/drain/report.ts';
import type { FinishedDrain } from '../../../functions/drain/request-record.ts';
import type { Report } from '../../../shared/lifecycle/reporter.ts';

const OBSERVED = { object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u1' } } } as const;

async function reported(answers: readonly Pick<FinishedDrain, 'id'>[]): Promise<Report | undefined> {
  let said: Report | undefined;
  const reporter = { report: async (report: Report) => void (said = report) };
  const context = { reporter } as unknown as Parameters<typeof reportCancelled>[0];
  const record = { requests: [], finished: [] };
  const decision = { kind: 'cancel', record, because: 'the fault is over', answers, releasesNode: false };
  await reportCancelled(
    context,
    OBSERVED as unknown as Parameters<typeof reportCancelled>[1],
    decision as unknown as Parameters<typeof reportCancelled>[2],
    false,
  );
  return said;
}

it('names the requests, and has no list of them where there are none', async () => {
  expect(await reported([{ id: 'e1' }])).toMatchObject({ decision: 'cancel', details: { ids: ['e1'] } });
  expect(await reported([])).not.toHaveProperty('details');
});
