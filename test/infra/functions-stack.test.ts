import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { ENV } from '../../shared/contract/env.ts';
import { SOURCES, FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { ORPHAN_CHECK_WAKE_UP } from '../../shared/contract/wake-up.ts';
import { parseInboxMessage } from '../../shared/contract/inbox-message.ts';
import packageFile from '../../package.json' with { type: 'json' };
import { operationOutputId, RECORDS_TABLE_OUTPUT, VERSION_OUTPUT } from '../../shared/contract/operation-outputs.ts';
import { ROUTES } from '../../shared/contract/routes.ts';
import { FUNCTION_TAG } from '../../shared/contract/tags.ts';
import { synthesize } from './synthesized.ts';

const { functionsTemplate: template } = synthesize();
const functions = template.findResources('AWS::Lambda::Function');
const rules = Object.values(template.findResources('AWS::Events::Rule'));

/** What the batch wrapper reads, and metrics. */
const VARIABLES_OF_ALL = [ENV.clusterName, ENV.inboxUrl, ENV.deadLetterQueueUrl];
/** By the adapters that a handler names: `shared/lambda/deps.ts` makes them of these. */
const VARIABLES_OF: Readonly<Record<string, readonly string[]>> = {
  kubernetes: [ENV.clusterEndpoint, ENV.clusterCertificateAuthority],
  events: [ENV.clusterEndpoint, ENV.clusterCertificateAuthority],
  records: [ENV.tableName],
  dueIndex: [ENV.tableName],
  wakeUps: [ENV.inboxUrls],
  bus: [ENV.eventBusName],
  deadLetters: [ENV.deadLetterQueueUrl],
  instances: [],
  hooks: [ENV.eventBusName],
};
function variablesOf(name: string): object {
  const found = Object.values(functions).find(({ Properties }) =>
    Properties.Tags.some(({ Key, Value }: { Key: string; Value: string }) => Key === FUNCTION_TAG && Value === name),
  );
  return found?.['Properties'].Environment.Variables ?? {};
}

describe('functions', () => {
  it('are those of the contract', () => {
    expect(Object.keys(functions)).toHaveLength(FUNCTION_NAMES.length);
    const descriptions = new Set(Object.values(functions).map(({ Properties }) => Properties.Description));
    expect(descriptions.size).toBe(FUNCTION_NAMES.length);
  });

  it.each(FUNCTION_NAMES)('%s gets the variables that its adapters read, and no others', name => {
    const handler = readFileSync(join(import.meta.dirname, `../../functions/${name}/handler.ts`), 'utf8');
    const [, named = '', more = ''] =
      /createHandler\(\s*'[\w-]+',\s*\[([^\]]*)\],\s*\w+(?:,\s*\{\s*otherAdapters: \{([^}]*)\})?/.exec(handler) ?? [];
    const adapters = [...named.matchAll(/'(\w+)'/g), ...more.matchAll(/(\w+):/g)];
    const read = adapters.flatMap(([, adapter]) => VARIABLES_OF[adapter ?? ''] ?? [`unknown adapter ${adapter}`]);
    expect(Object.keys(variablesOf(name)).toSorted()).toEqual([...new Set([...VARIABLES_OF_ALL, ...read])].toSorted());
  });

  it('run on Node 24, arm64, with JSON logs in a log group of their own', () => {
    template.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: Match.anyValue() } },
    });
    const groups = Object.values(functions).map(({ Properties }) => Properties.LoggingConfig.LogGroup.Ref);
    expect(new Set(groups).size).toBe(FUNCTION_NAMES.length);
  });

  it('keep their logs, which hold the audit, for a set time and beyond the function', () => {
    template.allResources('AWS::Logs::LogGroup', {
      Properties: { RetentionInDays: 180 },
      DeletionPolicy: 'RetainExceptOnCreate',
    });
  });

  // A record that is looked at again every few minutes is a chain of wake-ups; Lambda's loop detection drops the 17th of such a chain.
  it('may wake themselves without end', () => {
    template.allResourcesProperties('AWS::Lambda::Function', { RecursiveLoop: 'Allow' });
  });

  it('read their inbox in batches that can fail in part, a few at a time', () => {
    template.resourceCountIs('AWS::Lambda::EventSourceMapping', FUNCTION_NAMES.length);
    template.allResourcesProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: Match.anyValue() },
      BatchSize: 10,
    });
  });
});

describe('inboxes', () => {
  const inboxes = Object.values(template.findResources('AWS::SQS::Queue')).filter(
    ({ Properties }) => Properties.RedrivePolicy,
  );

  it('are as many as functions, each with a dead-letter queue of its own', () => {
    const targets = inboxes.map(({ Properties }) => JSON.stringify(Properties.RedrivePolicy.deadLetterTargetArn));
    expect(new Set(targets).size).toBe(FUNCTION_NAMES.length);
  });

  it('hide a message for six times the longest a function may take', () => {
    const slowest = Math.max(...Object.values(functions).map(({ Properties }) => Properties.Timeout));
    for (const { Properties } of inboxes) expect(Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * slowest);
  });

  // I5: what a crash left behind must be tried again within 5 minutes.
  it('show a message again within 5 minutes', () => {
    for (const { Properties } of inboxes) expect(Properties.VisibilityTimeout).toBeLessThanOrEqual(300);
  });

  it('are encrypted and refuse plain HTTP, as every queue', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    const guarded = new Set<string>();
    for (const { Properties } of Object.values(template.findResources('AWS::SQS::QueuePolicy'))) {
      const denied = Properties.PolicyDocument.Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Deny');
      if (JSON.stringify(denied).includes('"Condition":{"Bool":{"aws:SecureTransport":"false"}}')) {
        for (const { Ref } of Properties.Queues) guarded.add(Ref);
      }
    }
    expect(guarded).toEqual(new Set(Object.keys(template.findResources('AWS::SQS::Queue'))));
  });
});

describe('routing', () => {
  it('makes one rule of each route, with its pattern, a dead-letter queue and a day of retries', () => {
    for (const { pattern } of ROUTES) {
      template.hasResourceProperties('AWS::Events::Rule', {
        EventPattern: pattern('prod'),
        EventBusName: Match.anyValue(),
        Targets: [
          Match.objectLike({
            DeadLetterConfig: { Arn: Match.anyValue() },
            RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
          }),
        ],
      });
    }
  });

  // There are the events of the whole account, also of the instances of all others.
  it('has no other rule than the routes and the heartbeat, and none on the default bus', () => {
    expect(rules).toHaveLength(ROUTES.length + 1);
    expect(rules.filter(({ Properties }) => Properties.EventBusName === undefined)).toEqual([]);
  });

  it("takes the events of its own cluster's forwarder only, heartbeats included", () => {
    const isForwarders = ({ Properties }: (typeof rules)[number]): boolean =>
      Properties.EventPattern.source?.includes(SOURCES.forwarder) === true;
    const ofForwarder = rules.filter(isForwarders);
    expect(ofForwarder.length).toBeGreaterThan(1);
    for (const { Properties } of ofForwarder) expect(Properties.EventPattern.detail.cluster).toEqual(['prod']);
    const byParameter = Object.values(synthesize({}).functionsTemplate.findResources('AWS::Events::Rule'));
    for (const { Properties } of byParameter.filter(isForwarders)) {
      expect(Properties.EventPattern.detail.cluster).toEqual([{ Ref: 'ClusterName' }]);
    }
  });

  it('lets each rule send to its own inbox only', () => {
    const allowed = Object.values(template.findResources('AWS::SQS::QueuePolicy'))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Principal }) => Principal.Service === 'events.amazonaws.com');
    expect(allowed).toHaveLength(rules.length);
    for (const { Condition } of allowed) expect(Condition.ArnEquals['aws:SourceArn']['Fn::GetAtt'][1]).toBe('Arn');
  });

  const schedules = Object.values(template.findResources('AWS::Scheduler::Schedule'));
  const isTick = ({ Properties }: (typeof schedules)[number]): boolean =>
    parseInboxMessage(Properties.Target.Input).kind === 'tick';
  const ticks = schedules.filter(isTick);

  it('ticks the timer, and each function that calls the API server, every minute with a message that they understand', () => {
    const callers = Object.values(functions).filter(
      ({ Properties }) => ENV.clusterEndpoint in Properties.Environment.Variables,
    );
    expect(ticks).toHaveLength(callers.length + 1);
    expect(new Set(ticks.map(({ Properties }) => JSON.stringify(Properties.Target.Arn))).size).toBe(ticks.length);
    for (const { Properties } of ticks) {
      const { ScheduleExpression, FlexibleTimeWindow } = Properties;
      expect(ScheduleExpression).toBe('rate(1 minute)');
      expect(FlexibleTimeWindow).toEqual({ Mode: 'OFF' });
    }
  });

  // The next one does the same work: it would page somebody through the alarm on dead letters for nothing.
  it('forgets a tick that cannot be delivered', () => {
    for (const { Properties } of ticks) {
      expect(Properties.Target.DeadLetterConfig).toBeUndefined();
      expect(Properties.Target.RetryPolicy).toMatchObject({ MaximumEventAgeInSeconds: 60 });
    }
  });

  it('has one schedule more: once a day the finalizer function checks for orphans', () => {
    const others = schedules.filter(each => !isTick(each));
    expect(others.map(({ Properties }) => Properties.ScheduleExpression)).toEqual(['rate(1 day)']);
    for (const { Properties } of others) {
      expect(parseInboxMessage(Properties.Target.Input)).toEqual({ kind: 'wakeUp', ...ORPHAN_CHECK_WAKE_UP });
      expect(JSON.stringify(Properties.Target.Arn)).toContain('Finalizer');
      expect(Properties.Target.DeadLetterConfig).toBeUndefined();
    }
  });

  it('says in its outputs what the command line stops, resumes, redrives and reads', () => {
    const outputs = Object.keys(template.findOutputs('*'));
    for (const name of FUNCTION_NAMES) {
      expect(outputs).toEqual(
        expect.arrayContaining([
          operationOutputId(name, 'EventSource'),
          operationOutputId(name, 'Inbox'),
          operationOutputId(name, 'DeadLetters'),
          operationOutputId(name, 'LogGroup'),
        ]),
      );
    }
    expect(outputs).toContain('TimerSchedule');
    expect(outputs).toContain(RECORDS_TABLE_OUTPUT);
    expect(template.findOutputs(VERSION_OUTPUT)).toMatchObject({ [VERSION_OUTPUT]: { Value: packageFile.version } });
  });
});
