import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { synthesize } from './synthesized.ts';

const { stateStack, stateTemplate, functionsTemplate } = synthesize();

describe('state stack', () => {
  it('refuses to be deleted', () => {
    expect(stateStack.terminationProtection).toBe(true);
  });

  it('keeps every resource but policies when it is deleted or when one is replaced', () => {
    const resources: [string, { Type: string; DeletionPolicy?: string; UpdateReplacePolicy?: string }][] =
      Object.entries(stateTemplate.toJSON()['Resources']);
    const lost = resources.filter(
      ([, { Type, DeletionPolicy }]) =>
        Type !== 'AWS::SQS::QueuePolicy' && !/^Retain(ExceptOnCreate)?$/.test(DeletionPolicy ?? ''),
    );
    expect(lost).toEqual([]);
    for (const [, { UpdateReplacePolicy, Type }] of resources) {
      if (Type !== 'AWS::SQS::QueuePolicy') expect(UpdateReplacePolicy).toBe('Retain');
    }
  });

  // Retained by a first deployment that failed, a resource with a name of its own would be in the way of the second.
  it('keeps nothing of a first deployment that failed but what has a generated name', () => {
    const kept = Object.values<{ Type: string; DeletionPolicy?: string; Properties: object }>(
      stateTemplate.toJSON()['Resources'],
    ).filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain');
    expect(kept.map(({ Type }) => Type)).toEqual(['AWS::DynamoDB::GlobalTable']);
    expect(kept[0]?.Properties).not.toHaveProperty('TableName');
  });

  // Weak ones are read when the other stack is deployed, so they neither follow a replaced table nor protect it.
  it('is referenced by exports, which CloudFormation does not remove while they are in use', () => {
    expect(JSON.stringify(functionsTemplate.toJSON())).not.toContain('Fn::GetStackOutput');
    expect(JSON.stringify(functionsTemplate.toJSON())).toContain('Fn::ImportValue');
  });

  it('has a table with point-in-time recovery, deletion protection, expiry and a sparse due index that projects little', () => {
    stateTemplate.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      TimeToLiveSpecification: { AttributeName: 'expireTime', Enabled: true },
      GlobalSecondaryIndexes: [
        {
          IndexName: 'due',
          KeySchema: [
            { AttributeName: 'dueShard', KeyType: 'HASH' },
            { AttributeName: 'nextWakeTime', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['owner', 'id', 'subject', 'direct'] },
        },
      ],
      AttributeDefinitions: Match.arrayWith([
        { AttributeName: 'dueShard', AttributeType: 'S' },
        { AttributeName: 'nextWakeTime', AttributeType: 'N' },
      ]),
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    });
  });

  it('lets functions use a restored table, and goes on exporting its own', () => {
    const restored = synthesize({ recordsTable: 'Curfew-restored' });
    const text = JSON.stringify(restored.functionsTemplate.toJSON());
    const exportsOf = (template: typeof stateTemplate) =>
      Object.values<{ Export?: { Name: string } }>(template.toJSON()['Outputs'])
        .map(({ Export }) => Export?.Name ?? '')
        .filter(name => name.includes('Records'))
        .toSorted((a, b) => a.localeCompare(b));
    expect(text).toContain('table/Curfew-restored/index/due');
    expect(text).not.toContain('Records091F');
    expect(exportsOf(restored.stateTemplate)).toEqual(exportsOf(stateTemplate));
    expect(exportsOf(stateTemplate)).toHaveLength(2);
    restored.functionsTemplate.hasOutput('RecordsTableName', { Value: 'Curfew-restored' });
    const variables = Object.values(restored.functionsTemplate.findResources('AWS::Lambda::Function')).map(
      ({ Properties }) => Properties.Environment.Variables.TABLE_NAME,
    );
    expect(new Set(variables)).toEqual(new Set(['Curfew-restored']));
  });

  it('has one dead-letter queue per function that keeps messages for 14 days', () => {
    stateTemplate.resourceCountIs('AWS::SQS::Queue', FUNCTION_NAMES.length);
    stateTemplate.allResourcesProperties('AWS::SQS::Queue', {
      MessageRetentionPeriod: 1_209_600,
      SqsManagedSseEnabled: true,
    });
  });

  it('lets EventBridge add to a dead-letter queue for the rules that deliver to its function alone, and nobody without TLS', () => {
    for (const { Properties } of Object.values(stateTemplate.findResources('AWS::SQS::QueuePolicy'))) {
      expect(Properties.PolicyDocument.Statement).toEqual([
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        expect.objectContaining({
          Effect: 'Allow',
          Principal: { Service: 'events.amazonaws.com' },
          Condition: { ArnLike: { 'aws:SourceArn': expect.anything() } },
        }),
      ]);
    }
    for (const queue of [/^TimerDeadLetters/, /^FinalizerDeadLetters/])
      expect(rulesLetIn(queue)).toEqual(['rule/<bus>/*']);
  });
});

/** The rules in the policy of a dead-letter queue, without partition, Region and account. */
function rulesLetIn(queue: RegExp): readonly string[] {
  const policies = Object.values(stateTemplate.findResources('AWS::SQS::QueuePolicy')).filter(({ Properties }) =>
    queue.test(Properties.Queues[0].Ref),
  );
  const sources = policies.flatMap(({ Properties }) =>
    Properties.PolicyDocument.Statement.flatMap(
      (statement: { Condition: { ArnLike?: Record<string, unknown> } }) =>
        statement.Condition.ArnLike?.['aws:SourceArn'] ?? [],
    ),
  );
  return sources.map((source: { 'Fn::Join': [string, readonly unknown[]] }) =>
    source['Fn::Join'][1]
      .map(part => (typeof part === 'string' ? part : JSON.stringify(part).includes('Bus') ? '<bus>' : ''))
      .join('')
      .replace(/^.*:(?=rule\/)/, ''),
  );
}
