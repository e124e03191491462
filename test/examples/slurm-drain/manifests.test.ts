/** What the example ships is what it says: the scenario has its files word for word, and the stack wakes the bridge. */
import { Match } from 'aws-cdk-lib/assertions';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import { readManifest } from './bridge-cluster.ts';
import { bridgeTemplate } from './bridge-template.ts';

const SCENARIO = 'examples/scenarios/drain-slurm.yaml';

describe('the scenario', () => {
  it('uses the configuration, template and definition of the example', () => {
    const text = readFileSync(SCENARIO, 'utf8');
    const parsed = parseScenarios(text, SCENARIO, clusterCatalog());
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
    expect(parsed.scenarios.length).toBeGreaterThan(1);
    for (const { config, templates, objects } of parsed.scenarios) {
      expect(config).toBe(readManifest('config.toml'));
      expect(templates).toEqual({ 'drain-template.yaml': readManifest('drain-template.yaml') });
      const definition = objects.find(({ manifest }) => manifest.kind === 'CustomResourceDefinition');
      expect(definition?.manifest.body).toEqual(parse(readManifest('crd.yaml')));
    }
  });
});

describe('the stack', () => {
  const template = bridgeTemplate();
  it('runs one pass at a time, on events of the custom resource and every minute', () => {
    template.hasResourceProperties('AWS::Lambda::Function', { ReservedConcurrentExecutions: 1, Timeout: 60 });
    // Lambda reads a message group by one invocation at a time; of any other queue it invokes five times at once, and is throttled.
    const targets = { Targets: [Match.objectLike({ SqsParameters: { MessageGroupId: 'look' } })] };
    template.allResourcesProperties('AWS::Events::Rule', targets);
    template.allResourcesProperties('AWS::SQS::Queue', { FifoQueue: true });
    template.hasResourceProperties('AWS::SQS::Queue', { ContentBasedDeduplication: true, VisibilityTimeout: 90 });
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', { BatchSize: 10, ScalingConfig: Match.absent() });
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: Match.objectLike({ 'detail-type': ['DrainResourceChanged'], source: ['curfew.forwarder'] }),
    });
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' });
    template.resourceCountIs('AWS::SQS::Queue', 2);
  });

  it('is in the group that rbac.yaml binds, twice', () => {
    template.hasResourceProperties('AWS::EKS::AccessEntry', { KubernetesGroups: ['slurm-bridge'] });
    const subjects = z.object({ subjects: z.array(z.object({ kind: z.string(), name: z.string() })) });
    const bound = parseAllDocuments(readManifest('rbac.yaml'))
      .map(document => subjects.safeParse(document.toJS()))
      .flatMap(({ data }) => data?.subjects ?? [])
      .filter(({ kind, name }) => kind === 'Group' && name === 'slurm-bridge');
    expect(bound).toHaveLength(2);
  });
});
