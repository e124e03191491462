/** Everything that can be thrown away and deployed again: functions with their inboxes, rules, the tick, cluster access, alarms. */
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { SqsSendMessage } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, type IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { ORPHAN_CHECK_WAKE_UP, toWakeUpEnvelope } from '../shared/contract/wake-up.ts';
import type { Envelope } from '../shared/contract/envelope.ts';
import { SOURCES, TICK, FUNCTION_NAMES, type FunctionName } from '../shared/contract/names.ts';
import {
  EVENT_BUS_OUTPUT,
  OPERATION_OUTPUTS,
  operationOutputId,
  RECORDS_TABLE_OUTPUT,
  VERSION_OUTPUT,
  type OperationOutput,
} from '../shared/contract/operation-outputs.ts';
import { PERMISSIONS } from '../shared/contract/permissions.ts';
import { VERSION } from '../shared/contract/version.ts';
import { ROUTES, type EventPattern } from '../shared/contract/routes.ts';
import { TABLE } from '../shared/contract/table.ts';
import { ClusterAccess } from './cluster-access.ts';
import { clusterConnection } from './cluster-connection.ts';
import type { CurfewConfig } from './config.ts';
import { bundleFunctions, withoutBundles } from './constructs/bundling.ts';
import { toConstructId } from './constructs/construct-id.ts';
import { FunctionWithInbox } from './constructs/function-with-inbox.ts';
import { allowKey } from './encryption.ts';
import { FUNCTION_DEFINITIONS } from './function-definitions.ts';
import { Monitoring } from './monitoring.ts';
import { PrivateAccess } from './private-access.ts';
import { toRulePattern } from './rule-pattern.ts';
import { closeBus, closeInbox } from './senders.ts';
import type { StateStack } from './state-stack.ts';

export interface FunctionsStackProps extends StackProps {
  readonly config: CurfewConfig;
  readonly state: StateStack;
  /** Folder that holds `<function>/handler.ts`. */
  readonly handlersDir: string;
  /** Where the CDK writes templates and assets; it exists. */
  readonly cdkOut: string;
}

const TICK_MESSAGE: Envelope = { source: SOURCES.timer, 'detail-type': TICK, detail: {} };

/** Holds nothing that is lost with it: what must stay is in the `StateStack` that it is given. */
export class FunctionsStack extends Stack {
  readonly functions: ReadonlyMap<FunctionName, FunctionWithInbox>;
  readonly rules: readonly Rule[];
  /** By the function that they wake. */
  readonly ticks: ReadonlyMap<FunctionName, Schedule>;
  readonly monitoring: Monitoring;
  readonly schedulerRole: Role;
  readonly privateAccess: PrivateAccess | undefined;

  constructor(scope: Construct, id: string, props: FunctionsStackProps) {
    super(scope, id, props);
    const { config, state } = props;
    const cluster = clusterConnection(this, config);
    this.privateAccess = config.privateAccess && new PrivateAccess(this, 'PrivateAccess', config.privateAccess);
    this.functions = this.createFunctions(props);
    const table =
      config.recordsTable === undefined
        ? state.table
        : Table.fromTableAttributes(this, 'RestoredRecords', {
            tableName: config.recordsTable,
            globalIndexes: [TABLE.dueIndex.name],
          });
    for (const fn of this.functions.values()) {
      fn.connectsTo(cluster);
      fn.uses(table);
      fn.publishesTo(state.bus);
      fn.actsOnInstances(cluster);
      fn.invokes(config.hookFunctions);
      fn.sendsWakeUps(owner => required(this.functions, owner).inbox);
    }
    this.rules = this.createRules(props, cluster.name);
    this.schedulerRole = this.createSchedulerRole(state);
    this.ticks = this.createTicks();
    this.scheduleOrphanCheck();
    const functions = [...this.functions.values()];
    const { forwarderRole } = new ClusterAccess(this, 'ClusterAccess', { cluster, functions, bus: state.bus });
    this.closeInboxes(config);
    if (config.drainPrincipals !== undefined) {
      const publishing = functions.filter(({ functionName }) => PERMISSIONS[functionName].publishesAs.length > 0);
      const publishers = [...publishing.map(({ role }) => role), forwarderRole];
      closeBus(this, state.bus, { publishers, others: config.drainPrincipals });
    }
    this.monitoring = new Monitoring(this, 'Monitoring', { config, cluster, state, functions, rules: this.rules });
    new CfnOutput(this, EVENT_BUS_OUTPUT, {
      description: 'EVENT_BUS_NAME of the forwarder',
      value: state.bus.eventBusName,
    });
    new CfnOutput(this, 'RecordsTable', { value: table.tableName }).overrideLogicalId(RECORDS_TABLE_OUTPUT);
    new CfnOutput(this, VERSION_OUTPUT, { description: 'Version of Curfew', value: VERSION });
    this.createOperationOutputs(state);
  }

  /** What `curfew stop`, `resume`, `redrive` and `audit` work on. */
  private createOperationOutputs(state: StateStack): void {
    for (const [name, { eventSourceMappingId, inbox, logGroup }] of this.functions) {
      const values: Readonly<Record<OperationOutput, string | undefined>> = {
        EventSource: eventSourceMappingId,
        Schedule: this.ticks.get(name)?.scheduleName,
        Inbox: inbox.queueUrl,
        DeadLetters: required(state.deadLetterQueues, name).queueUrl,
        LogGroup: logGroup.logGroupName,
      };
      for (const output of OPERATION_OUTPUTS) {
        const value = values[output];
        const id = operationOutputId(name, output);
        // The construct of that id would stand beside the function's own; the logical id is what is read.
        if (value !== undefined) new CfnOutput(this, `OutputOf${id}`, { value }).overrideLogicalId(id);
      }
    }
  }

  /** One for all schedules: it may send to inboxes and nothing more. */
  private createSchedulerRole({ encryptionKey }: StateStack): Role {
    const group = this.formatArn({ service: 'scheduler', resource: 'schedule-group', resourceName: 'default' });
    const assumedBy = new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': this.account, 'aws:SourceArn': group } },
    });
    const role = new Role(this, 'SchedulerRole', { assumedBy, description: 'Schedules of Curfew' });
    const resources = [...this.functions.values()].map(({ inbox }) => inbox.queueArn);
    role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources }));
    allowKey(role, encryptionKey);
    return role;
  }

  /** To all but those who send: the schedules, the function itself, and those that wake it. */
  private closeInboxes({ operatorPrincipals = [] }: CurfewConfig): void {
    for (const [owner, { inbox }] of this.functions) {
      const waking = [...this.functions.values()].filter(
        ({ functionName }) => functionName === owner || PERMISSIONS[functionName].wakes.includes(owner),
      );
      closeInbox(inbox, [...waking.map(({ role }) => role), this.schedulerRole], operatorPrincipals);
    }
  }

  private createFunctions({
    config,
    state,
    handlersDir,
    cdkOut,
  }: FunctionsStackProps): Map<FunctionName, FunctionWithInbox> {
    using bundles = this.bundlingRequired
      ? bundleFunctions(handlersDir, FUNCTION_NAMES, cdkOut)
      : withoutBundles(handlersDir);
    return new Map(
      FUNCTION_NAMES.map(functionName => [
        functionName,
        new FunctionWithInbox(this, toConstructId(functionName), {
          functionName,
          definition: FUNCTION_DEFINITIONS[functionName],
          permissions: PERMISSIONS[functionName],
          code: bundles.of(functionName),
          deadLetterQueue: required(state.deadLetterQueues, functionName),
          logRetention: config.logRetentionDays,
          privateAccess: this.privateAccess,
          fipsEndpoints: config.fipsEndpoints,
          encryptionKey: state.encryptionKey,
        }),
      ]),
    );
  }

  /** Rule → inbox rather than rule → function: one retry policy, a backlog that can be seen, and partial batches. */
  private createRules({ config, state }: FunctionsStackProps, cluster: string): Rule[] {
    return ROUTES.map(
      ({ name, target, pattern }) =>
        new Rule(this, name, {
          eventBus: state.bus,
          eventPattern: toRulePattern(ofKnownSources(pattern(cluster), config)),
          targets: [
            new SqsQueue(required(this.functions, target).inbox, {
              deadLetterQueue: this.withoutPolicy(target, required(state.deadLetterQueues, target), name),
              maxEventAge: Duration.hours(24),
              retryAttempts: 185,
            }),
          ],
        }),
    );
  }

  /** The same queue as an import: the state stack has written its policy, which must not name the rules of this one (a cycle). */
  private withoutPolicy(owner: FunctionName, queue: IQueue, route: string): IQueue {
    return Queue.fromQueueArn(this, `${route}${toConstructId(owner)}DeadLetters`, queue.queueArn);
  }

  /**
   * Every minute: the timer sweeps, and each function that calls the API server checks that it can. A tick that cannot be delivered within its
   * minute is worth nothing, since the next one does the same work: it has no dead-letter queue, where it would page somebody.
   */
  private createTicks(): Map<FunctionName, Schedule> {
    const ticked = [...this.functions].filter(([name]) => name === 'timer' || PERMISSIONS[name].kubernetes.length > 0);
    return new Map(
      ticked.map(([name, { inbox }]) => [
        name,
        new Schedule(this, name === 'timer' ? 'Tick' : `${toConstructId(name)}Tick`, {
          description:
            name === 'timer'
              ? 'Lets the timer function sweep the due index'
              : `Lets ${name} check its access to the API server`,
          schedule: ScheduleExpression.rate(Duration.minutes(1)),
          target: new SqsSendMessage(inbox, {
            role: this.schedulerRole.withoutPolicyUpdates(),
            input: ScheduleTargetInput.fromObject(TICK_MESSAGE),
            maxEventAge: Duration.minutes(1),
            retryAttempts: 3,
          }),
        }),
      ]),
    );
  }

  /** Tried for half a day where the tick is tried for a minute; after a missed day the next one checks, so no dead letters here either. */
  private scheduleOrphanCheck(): void {
    const { owner } = ORPHAN_CHECK_WAKE_UP;
    new Schedule(this, 'OrphanCheck', {
      description: `Lets ${owner} compare the instances of the cluster with its NodeClaims and Nodes`,
      schedule: ScheduleExpression.rate(Duration.days(1)),
      target: new SqsSendMessage(required(this.functions, owner).inbox, {
        role: this.schedulerRole.withoutPolicyUpdates(),
        input: ScheduleTargetInput.fromObject(toWakeUpEnvelope(ORPHAN_CHECK_WAKE_UP)),
        maxEventAge: Duration.hours(12),
      }),
    });
  }
}

/** What anybody may say, from those sources alone that the deployment names, and from repair, which asks for drains too. */
function ofKnownSources(pattern: EventPattern, { drainSources }: CurfewConfig): EventPattern {
  if (pattern.source !== undefined || drainSources === undefined) return pattern;
  return { ...pattern, source: [...drainSources, SOURCES.repair] };
}

function required<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${String(key)} is not deployed`);
  return value;
}
