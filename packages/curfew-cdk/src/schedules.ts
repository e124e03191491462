/** What comes by the clock: a tick a minute, and the daily check for orphans. */
import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { SqsSendMessage } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Construct } from 'constructs';
import type { Envelope } from '../../../shared/contract/envelope.ts';
import { SOURCES, TICK, type FunctionName } from '../../../shared/contract/names.ts';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';
import { ORPHAN_CHECK_WAKE_UP, toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import { toConstructId } from './construct-id.ts';
import { allowKey } from './encryption.ts';
import type { FunctionWithInbox } from './function-with-inbox.ts';
import { required } from './required.ts';

type Functions = ReadonlyMap<FunctionName, FunctionWithInbox>;

const TICK_MESSAGE: Envelope = { source: SOURCES.timer, 'detail-type': TICK, detail: {} };

/** Creates the role of all schedules: it may send to inboxes and nothing more. */
export function createSchedulerRole(scope: Construct, functions: Functions, encryptionKey: IKey | undefined): Role {
  const stack = Stack.of(scope);
  const group = stack.formatArn({ service: 'scheduler', resource: 'schedule-group', resourceName: 'default' });
  const assumedBy = new ServicePrincipal('scheduler.amazonaws.com', {
    conditions: { StringEquals: { 'aws:SourceAccount': stack.account, 'aws:SourceArn': group } },
  });
  const role = new Role(scope, 'SchedulerRole', { assumedBy, description: 'Schedules of Curfew' });
  const resources = [...functions.values()].map(({ inbox }) => inbox.queueArn);
  role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources }));
  allowKey(role, encryptionKey);
  return role;
}

/**
 * Every minute: the timer sweeps, and each function that calls the API server checks that it can. A tick that cannot be delivered within its
 * minute is worth nothing, since the next one does the same work: it has no dead-letter queue, where it would page somebody.
 */
export function createTicks(scope: Construct, functions: Functions, role: Role): Map<FunctionName, Schedule> {
  const ticked = [...functions].filter(([name]) => name === 'timer' || PERMISSIONS[name].kubernetes.length > 0);
  return new Map(
    ticked.map(([name, { inbox }]) => [
      name,
      new Schedule(scope, name === 'timer' ? 'Tick' : `${toConstructId(name)}Tick`, {
        description:
          name === 'timer'
            ? 'Lets the timer function sweep the due index'
            : `Lets ${name} check its access to the API server`,
        schedule: ScheduleExpression.rate(Duration.minutes(1)),
        target: new SqsSendMessage(inbox, {
          role: role.withoutPolicyUpdates(),
          input: ScheduleTargetInput.fromObject(TICK_MESSAGE),
          maxEventAge: Duration.minutes(1),
          retryAttempts: 3,
        }),
      }),
    ]),
  );
}

/**
 * Schedules the check for orphans. It is tried for half a day, a tick for a minute; after a missed day the next one checks, so no dead letters here
 * either.
 */
export function scheduleOrphanCheck(scope: Construct, functions: Functions, role: Role): void {
  const { owner } = ORPHAN_CHECK_WAKE_UP;
  new Schedule(scope, 'OrphanCheck', {
    description: `Lets ${owner} compare the instances of the cluster with its NodeClaims and Nodes`,
    schedule: ScheduleExpression.rate(Duration.days(1)),
    target: new SqsSendMessage(required(functions, owner).inbox, {
      role: role.withoutPolicyUpdates(),
      input: ScheduleTargetInput.fromObject(toWakeUpEnvelope(ORPHAN_CHECK_WAKE_UP)),
      maxEventAge: Duration.hours(12),
    }),
  });
}
