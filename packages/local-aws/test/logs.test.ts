import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { expect, it } from 'vitest';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { FAKE_CREDENTIALS } from '../src/fake-credentials.ts';
import { startLogs } from '../src/logs.ts';

it('keeps the last 2,000 lines of each group', async () => {
  await using parts = new AsyncDisposableStack();
  const logs = await startLogs({ groups: ['busy', 'quiet'], clock: { now: () => toEpochMs(0) } });
  parts.defer(() => logs.stop());
  const client = new CloudWatchLogsClient({
    endpoint: logs.endpoint,
    region: 'us-east-1',
    credentials: FAKE_CREDENTIALS,
  });
  parts.defer(() => client.destroy());
  const linesOf = async (logGroupName: string): Promise<readonly (string | undefined)[]> => {
    const { events = [] } = await client.send(new FilterLogEventsCommand({ logGroupName }));
    return events.map(({ message }) => message);
  };
  logs.add('quiet', 'only');
  for (let line = 1; line <= 2500; line += 1) logs.add('busy', String(line));
  const busy = await linesOf('busy');
  expect(busy).toHaveLength(2000);
  expect([busy.at(0), busy.at(-1)]).toEqual(['501', '2500']);
  expect(await linesOf('quiet')).toEqual(['only']);
});
