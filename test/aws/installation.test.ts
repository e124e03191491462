/**
 * What no stand-in for AWS can show, on a deployment in an account: docs/sandbox.md has the whole list. Runs with `CURFEW_AWS_ACCOUNT` alone, and reads
 * with the credentials of the environment; `CURFEW_STACK` names another stack than `Curfew`, `CURFEW_KUBECONFIG` its cluster.
 */
import { CloudWatchClient, DescribeAlarmsCommand, ListMetricsCommand } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { describe, expect, it } from 'vitest';
import { doctorCommand } from '../../cli/doctor.ts';
import { readBusName, readDeployment, readLogGroups } from '../../cli/operate/deployment.ts';

const { CURFEW_AWS_ACCOUNT: account, CURFEW_STACK: stack = 'Curfew', CURFEW_KUBECONFIG: kubeconfig } = process.env;
if (account === undefined) process.stdout.write('skipped: CURFEW_AWS_ACCOUNT names no account\n');

describe.skipIf(account === undefined)(`the stack ${stack}`, () => {
  it('is in the account that was named', async () => {
    for (const { inboxUrl } of await readDeployment(stack, {})) expect(inboxUrl).toContain(`/${account}/`);
  });

  it('has nothing that curfew doctor finds wrong', async () => {
    let said = '';
    const print = (text: string): void => void (said += text);
    const code = await doctorCommand({ stack, ...(kubeconfig && { kubeconfig }) }, { out: print, error: print });
    expect([code, said]).toEqual([0, expect.not.stringMatching(/^(FAILED|skipped)/m)]);
  });

  it('gets each audit line as an event of its own, also where several were written together', async () => {
    const logs = new CloudWatchLogsClient({});
    const groups = await readLogGroups(stack, {});
    const found = await Promise.all(
      groups.map(async ({ logGroup }) => {
        const command = new FilterLogEventsCommand({ logGroupName: logGroup, filterPattern: '"audit"', limit: 100 });
        return (await logs.send(command)).events ?? [];
      }),
    );
    expect(found.flat().length).toBeGreaterThan(0);
    for (const { message = '' } of found.flat()) expect(JSON.parse(message)).toMatchObject({ audit: true });
  });

  it('counts the deliveries of its rules under both dimensions', async () => {
    const busName = await readBusName(stack, {});
    const { Metrics = [] } = await new CloudWatchClient({}).send(
      new ListMetricsCommand({
        Namespace: 'AWS/Events',
        MetricName: 'Invocations',
        Dimensions: [{ Name: 'EventBusName', Value: busName }, { Name: 'RuleName' }],
      }),
    );
    expect(Metrics.length).toBeGreaterThan(0);
  });

  it('evaluates its alarms on silence', async () => {
    const alarms = await new CloudWatchClient({}).send(new DescribeAlarmsCommand({ AlarmNamePrefix: `${stack}-` }));
    const silence = (alarms.MetricAlarms ?? []).filter(({ AlarmName }) => AlarmName?.includes('Silent'));
    expect(silence.map(({ StateValue }) => StateValue)).toEqual(['OK', 'OK']);
  });
});
