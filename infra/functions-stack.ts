/** Everything that can be thrown away and deployed again: functions with their inboxes, rules, the tick, cluster access, alarms. */
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { SqsSendMessage } from 'aws-cdk-lib/aws-scheduler-targets';
import { Queue, type IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Envelope } from '../shared/contract/envelope.ts';
import { SOURCES, TICK, type FunctionName } from '../shared/contract/names.ts';
import { DEPLOYED_FUNCTIONS, ROUTES } from '../shared/contract/routes.ts';
import { ClusterAccess } from './cluster-access.ts';
import { clusterConnection } from './cluster-connection.ts';
import type { CurfewConfig } from './config.ts';
import { toConstructId } from './constructs/construct-id.ts';
import { FunctionWithInbox } from './constructs/function-with-inbox.ts';
import { definitionOf } from './function-definitions.ts';
import { Monitoring } from './monitoring.ts';
import { PrivateAccess } from './private-access.ts';
import type { StateStack } from './state-stack.ts';

export interface FunctionsStackProps extends StackProps {
  readonly config: CurfewConfig;
  readonly state: StateStack;
  readonly handlersDir: string;
}

const TICK_MESSAGE: Envelope = { source: SOURCES.timer, 'detail-type': TICK, detail: {} };

export class FunctionsStack extends Stack {
  readonly functions: ReadonlyMap<FunctionName, FunctionWithInbox>;
  readonly rules: readonly Rule[];
  readonly tick: Schedule;
  readonly monitoring: Monitoring;
  readonly privateAccess: PrivateAccess | undefined;

  constructor(scope: Construct, id: string, props: FunctionsStackProps) {
    super(scope, id, props);
    const { config, state } = props;
    const cluster = clusterConnection(this, config);
    this.privateAccess = config.privateAccess && new PrivateAccess(this, 'PrivateAccess', config.privateAccess);
    this.functions = this.createFunctions(props);
    const inboxes = new Map([...this.functions].map(([name, { inbox }]) => [name, inbox]));
    for (const [name, fn] of this.functions) {
      const definition = definitionOf(name);
      fn.connectsTo(cluster);
      fn.uses(state.table, definition);
      fn.publishesTo(state.bus, definition.publishesAs);
      if (definition.terminatesInstances === true) {
        fn.terminatesInstancesOf(cluster);
        fn.invokes(config.hookFunctions);
      }
      fn.sendsWakeUpsTo(new Map(definition.wakes.map(owner => [owner, required(inboxes, owner)])));
    }
    this.rules = this.createRules(state);
    this.tick = this.createTick(state);
    const functions = [...this.functions.values()];
    new ClusterAccess(this, 'ClusterAccess', { cluster, functions, bus: state.bus, forwarder: config.forwarder });
    this.monitoring = new Monitoring(this, 'Monitoring', { config, cluster, state, functions, rules: this.rules });
    new CfnOutput(this, 'EventBusName', {
      description: 'EVENT_BUS_NAME of the forwarder',
      value: state.bus.eventBusName,
    });
  }

  private createFunctions({ config, state, handlersDir }: FunctionsStackProps): Map<FunctionName, FunctionWithInbox> {
    return new Map(
      DEPLOYED_FUNCTIONS.map(functionName => [
        functionName,
        new FunctionWithInbox(this, toConstructId(functionName), {
          functionName,
          definition: definitionOf(functionName),
          handlersDir,
          deadLetterQueue: required(state.deadLetterQueues, functionName),
          logRetention: config.logRetentionDays,
          privateAccess: this.privateAccess,
        }),
      ]),
    );
  }

  /** Rule → inbox rather than rule → function: one retry policy, a backlog that can be seen, and partial batches. */
  private createRules(state: StateStack): Rule[] {
    return ROUTES.map(({ name, target, pattern }) => {
      const { source, 'detail-type': detailType } = pattern;
      return new Rule(this, name, {
        eventBus: state.bus,
        eventPattern: { source: [...source], detailType: [...detailType] },
        targets: [
          new SqsQueue(required(this.functions, target).inbox, {
            deadLetterQueue: this.withoutPolicy(target, required(state.deadLetterQueues, target), name),
            maxEventAge: Duration.hours(24),
            retryAttempts: 185,
          }),
        ],
      });
    });
  }

  /** The same queue as an import: the state stack has written its policy, which must not name the rules of this one (a cycle). */
  private withoutPolicy(owner: FunctionName, queue: IQueue, route: string): IQueue {
    return Queue.fromQueueArn(this, `${route}${toConstructId(owner)}DeadLetters`, queue.queueArn);
  }

  /** A tick that cannot be delivered within its minute is worth nothing: the next one does the same work. */
  private createTick(state: StateStack): Schedule {
    return new Schedule(this, 'Tick', {
      description: 'Lets the timer function sweep the due index',
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      target: new SqsSendMessage(required(this.functions, 'timer').inbox, {
        input: ScheduleTargetInput.fromObject(TICK_MESSAGE),
        deadLetterQueue: required(state.deadLetterQueues, 'timer'),
        maxEventAge: Duration.minutes(1),
        retryAttempts: 3,
      }),
    });
  }
}

function required<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${String(key)} is not deployed`);
  return value;
}
