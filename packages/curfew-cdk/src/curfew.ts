/** Everything that can be thrown away and deployed again: functions with their inboxes, rules, the tick, cluster access, alarms. */
import { Duration, Tags } from 'aws-cdk-lib';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import type { Role } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Schedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, type IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { FUNCTION_NAMES, SOURCES, type FunctionName } from '../../../shared/contract/names.ts';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';
import { ROUTES, type EventPattern } from '../../../shared/contract/routes.ts';
import { TABLE } from '../../../shared/contract/table.ts';
import { acknowledgeFindings } from './acknowledgements.ts';
import { ClusterAccess } from './cluster-access.ts';
import { packagedCode } from './code.ts';
import { toConstructId } from './construct-id.ts';
import { CurfewState } from './curfew-state.ts';
import { FUNCTION_DEFINITIONS } from './function-definitions.ts';
import { FunctionWithInbox } from './function-with-inbox.ts';
import { Monitoring } from './monitoring.ts';
import { APP_TAG } from './name.ts';
import { createOutputs } from './outputs.ts';
import { PrivateAccess } from './private-access.ts';
import type { CurfewProps } from './props.ts';
import { required } from './required.ts';
import { toRulePattern } from './rule-pattern.ts';
import { createSchedulerRole, createTicks, scheduleOrphanCheck } from './schedules.ts';
import { closeBus, closeInbox } from './senders.ts';

/**
 * Curfew for one cluster: functions with their inboxes, rules, the tick, access to the cluster, alarms. Holds nothing that is lost with it: what
 * must stay is in a {@link CurfewState}, of its own or the one that it is given.
 *
 * A stack takes several, of one name each. Outputs begin with the name, and `curfew --stack STACK/NAME` reads them; under the id `Default` the
 * stack is the deployment, and they do not.
 */
export class Curfew extends Construct {
  /** The table, the bus and the dead-letter queues. */
  readonly state: CurfewState;
  /** The role of the forwarder, by EKS Pod Identity. */
  readonly forwarderRole: Role;
  /** @internal */
  readonly functions: ReadonlyMap<FunctionName, FunctionWithInbox>;
  /** @internal */
  readonly rules: readonly Rule[];
  /**
   * The schedules of the tick, by the function that each one wakes.
   *
   * @internal
   */
  readonly ticks: ReadonlyMap<FunctionName, Schedule>;
  /** @internal */
  readonly monitoring: Monitoring;
  /** @internal */
  readonly schedulerRole: Role;
  /** @internal */
  readonly privateAccess: PrivateAccess | undefined;

  constructor(scope: Construct, id: string, props: CurfewProps) {
    super(scope, id);
    const { name, cluster, recordsTable, hookFunctions = [], drainPrincipals } = props;
    this.state = props.state ?? new CurfewState(this, 'State', { name, encryptionKey: props.encryptionKey });
    refuseOtherState(this, this.state, props);
    this.privateAccess = props.privateAccess && new PrivateAccess(this, 'PrivateAccess', props.privateAccess);
    this.functions = this.createFunctions(props);
    const table =
      recordsTable === undefined
        ? this.state.table
        : Table.fromTableAttributes(this, 'RestoredRecords', {
            tableName: recordsTable,
            globalIndexes: [TABLE.dueIndex.name],
          });
    const { bus } = this.state;
    for (const fn of this.functions.values()) {
      fn.connectsTo(cluster);
      fn.uses(table);
      fn.publishesTo(bus);
      fn.actsOnInstances(cluster);
      fn.invokes(hookFunctions);
      fn.sendsWakeUps(owner => required(this.functions, owner).inbox);
    }
    this.rules = this.createRules(props);
    this.schedulerRole = createSchedulerRole(this, this.functions, this.state.encryptionKey);
    this.ticks = createTicks(this, this.functions, this.schedulerRole);
    scheduleOrphanCheck(this, this.functions, this.schedulerRole);
    const functions = [...this.functions.values()];
    ({ forwarderRole: this.forwarderRole } = new ClusterAccess(this, 'ClusterAccess', { cluster, functions, bus }));
    this.closeInboxes(props);
    if (drainPrincipals !== undefined) {
      const publishing = functions.filter(({ functionName }) => PERMISSIONS[functionName].publishesAs.length > 0);
      const publishers = [...publishing.map(({ role }) => role), this.forwarderRole];
      closeBus(this, bus, { publishers, others: drainPrincipals });
    }
    const { state, rules, ticks } = this;
    this.monitoring = new Monitoring(this, 'Monitoring', { settings: props, cluster, state, functions, rules });
    const { monitoring } = this;
    createOutputs(this, {
      name,
      clusterName: cluster.name,
      state,
      table,
      functions: this.functions,
      ticks,
      monitoring,
    });
    Tags.of(this).add(...APP_TAG);
    acknowledgeFindings({
      functions,
      isInVpc: this.privateAccess !== undefined,
      heartbeat: this.monitoring.heartbeat,
    });
  }

  /** Denies the inboxes to all but those who send: the schedules, the function itself, and those that wake it. */
  private closeInboxes({ operatorPrincipals = [] }: CurfewProps): void {
    for (const [owner, { inbox }] of this.functions) {
      const waking = [...this.functions.values()].filter(
        ({ functionName }) => functionName === owner || PERMISSIONS[functionName].wakes.includes(owner),
      );
      closeInbox(inbox, [...waking.map(({ role }) => role), this.schedulerRole], operatorPrincipals);
    }
  }

  private createFunctions(props: CurfewProps): Map<FunctionName, FunctionWithInbox> {
    const { deadLetterQueues, encryptionKey } = this.state;
    const { code = packagedCode, logRetention = RetentionDays.SIX_MONTHS, fipsEndpoints = false } = props;
    return new Map(
      FUNCTION_NAMES.map(functionName => [
        functionName,
        new FunctionWithInbox(this, toConstructId(functionName), {
          functionName,
          definition: FUNCTION_DEFINITIONS[functionName],
          permissions: PERMISSIONS[functionName],
          code: code(functionName),
          deadLetterQueue: required(deadLetterQueues, functionName),
          logRetention,
          privateAccess: this.privateAccess,
          fipsEndpoints,
          encryptionKey,
        }),
      ]),
    );
  }

  /**
   * Creates the rules, each with an inbox as its target rather than a function: one retry policy, a backlog that can be seen, and partial batches.
   */
  private createRules(props: CurfewProps): Rule[] {
    const { bus, deadLetterQueues } = this.state;
    return ROUTES.map(
      ({ name, target, pattern }) =>
        new Rule(this, name, {
          eventBus: bus,
          eventPattern: toRulePattern(ofKnownSources(pattern(props.cluster.name), props)),
          targets: [
            new SqsQueue(required(this.functions, target).inbox, {
              deadLetterQueue: this.withoutPolicy(target, required(deadLetterQueues, target), name),
              maxEventAge: Duration.hours(24),
              retryAttempts: 185,
            }),
          ],
        }),
    );
  }

  /** The queue as an import: the state has written its policy, which must not name the rules of another stack (a cycle). */
  private withoutPolicy(owner: FunctionName, queue: IQueue, route: string): IQueue {
    return Queue.fromQueueArn(this, `${route}${toConstructId(owner)}DeadLetters`, queue.queueArn);
  }
}

/** The pattern, limited to the sources that the deployment names, and to repair, which asks for drains too. */
function ofKnownSources(pattern: EventPattern, { drainSources }: CurfewProps): EventPattern {
  if (pattern.source !== undefined || drainSources === undefined) return pattern;
  return { ...pattern, source: [...drainSources, SOURCES.repair] };
}

function refuseOtherState(construct: Construct, state: CurfewState, { name, encryptionKey }: CurfewProps): void {
  if (state.name !== name) throw new Error(`${construct.node.path}: its state is that of ${state.name}`);
  if (encryptionKey !== undefined && encryptionKey !== state.encryptionKey) {
    throw new Error(`${construct.node.path}: encryptionKey is given by its state`);
  }
}
