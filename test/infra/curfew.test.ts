/** The construct beside others: several in a stack, and under what names an existing deployment is found again. */
import { App, Stack, type StackProps } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Curfew, CurfewState, type CurfewProps } from '../../packages/curfew-cdk/src/index.ts';
import { compositeAlarmName, operationOutputId } from '../../shared/contract/operation-outputs.ts';
import { synthesize } from './synthesized.ts';

const outdir = mkdtempSync(join(tmpdir(), 'curfew-constructs-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));
/** A stack of an app of its own. */
const aStack = (name: string, props: StackProps = {}): Stack =>
  new Stack(new App({ outdir: join(outdir, name) }), name, props);

const CODE = { code: () => Code.fromInline('exports.handler = () => {};') };
const clusterOf = (name: string) => ({ name, endpoint: `https://${name}.example.com`, certificateAuthority: 'Q0E=' });
const propsOf = (name: string, more: Partial<CurfewProps> = {}): CurfewProps => ({
  name,
  cluster: clusterOf(name.toLowerCase()),
  ...CODE,
  ...more,
});
type Resources = Readonly<Record<string, { readonly Type: string }>>;
const resourcesOf = (stack: Stack): Resources => Template.fromStack(stack).toJSON()['Resources'];

describe('a deployment', () => {
  // CloudFormation replaces what stands under another logical id: the table would be empty, and what waits in the queues gone.
  it('keeps the logical ids of what holds something, and of what others know', () => {
    const { stateTemplate, functionsTemplate } = synthesize({});
    const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
      readFileSync(join(import.meta.dirname, '../fixtures/logical-ids.json'), 'utf8'),
    );
    const made = { CurfewState: stateTemplate, Curfew: functionsTemplate };
    for (const [stack, template] of Object.entries(made)) {
      const resources: Resources = template.toJSON()['Resources'];
      const types = Object.fromEntries(Object.entries(resources).map(([id, { Type }]) => [id, Type]));
      expect(types).toMatchObject(kept[stack] ?? {});
    }
    expect(Object.values(kept).flatMap(ids => Object.keys(ids)).length).toBeGreaterThanOrEqual(40);
  });
});

describe('several constructs in one stack', () => {
  const stack = aStack('Platform');
  for (const name of ['Prod', 'Staging', 'Edge']) new Curfew(stack, name, propsOf(name));
  const template = Template.fromStack(stack);

  it('have a table, a bus and queues each, and fit into what CloudFormation takes', () => {
    template.resourceCountIs('AWS::DynamoDB::GlobalTable', 3);
    template.resourceCountIs('AWS::Lambda::Function', 15);
    expect(Object.keys(resourcesOf(stack)).length).toBeLessThanOrEqual(500);
    const buses = Object.values(template.findResources('AWS::Events::EventBus'));
    expect(new Set(buses.map(({ Properties }) => Properties.Name))).toEqual(new Set(['Edge', 'Prod', 'Staging']));
  });

  it('have outputs of their own', () => {
    const outputs = Object.keys(template.toJSON()['Outputs']);
    for (const name of ['Prod', 'Staging', 'Edge'])
      for (const output of ['EventBusName', 'RecordsTableName', 'Version', operationOutputId('repair', 'Inbox')])
        expect(outputs).toContain(`${name}${output}`);
  });

  it('say what the names of their alarms begin with, which is that of no other', () => {
    const outputs: Readonly<Record<string, { readonly Value: unknown }>> = template.toJSON()['Outputs'];
    const alarms = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
    const own = ['Prod', 'Staging', 'Edge'].map(name => {
      // CloudFormation names an alarm STACK-LOGICALID-….
      const prefix = { 'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, `-${name}Monitoring`]] };
      expect(outputs[`${name}AlarmPrefix`]?.Value).toEqual(prefix);
      return alarms.filter(id => id.startsWith(`${name}Monitoring`));
    });
    expect(own.flat().toSorted()).toEqual(alarms.toSorted());
    const composites = Object.values(template.findResources('AWS::CloudWatch::CompositeAlarm'));
    expect(composites.map(({ Properties }) => Properties.AlarmName)).toEqual(
      ['Prod', 'Staging', 'Edge'].map(compositeAlarmName),
    );
  });

  it('hear of their own cluster alone, and use their own table', () => {
    const rules = Object.entries(template.findResources('AWS::Events::Rule')).filter(
      ([, { Properties }]) => Properties.EventPattern.detail?.cluster !== undefined,
    );
    for (const [id, { Properties }] of rules) {
      const [name = ''] = /^(Prod|Staging|Edge)/.exec(id) ?? [];
      expect(Properties.EventPattern.detail.cluster).toEqual([name.toLowerCase()]);
      expect(JSON.stringify(Properties.EventBusName)).toContain(`"${name}StateBus`);
    }
    expect(rules.length).toBeGreaterThan(30);
    for (const [id, { Properties }] of Object.entries(template.findResources('AWS::Lambda::Function'))) {
      const [name = ''] = /^(Prod|Staging|Edge)/.exec(id) ?? [];
      const { CLUSTER_NAME, TABLE_NAME } = Properties.Environment.Variables;
      expect(CLUSTER_NAME).toBe(name.toLowerCase());
      if (TABLE_NAME !== undefined) expect(TABLE_NAME.Ref).toMatch(new RegExp(`^${name}StateRecords`));
    }
  });

  it('name no resource alike', () => {
    const names = Object.values(resourcesOf(stack)).flatMap(resource => {
      const { Name, AlarmName } = Reflect.get(resource, 'Properties') ?? {};
      return [Name, AlarmName].flatMap(name => (typeof name === 'string' ? [`${resource.Type} ${name}`] : []));
    });
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a construct', () => {
  it.each(['', 'default', '1st', 'a-b', 'A'.repeat(32)])('refuses the name %j', name => {
    expect(() => new Curfew(aStack('Misnamed'), 'X', propsOf(name))).toThrow(/name must be a letter and up to 30/);
  });

  it('refuses the state of another deployment, and a second key', () => {
    const stack = aStack('Two');
    const state = new CurfewState(stack, 'State', { name: 'One' });
    expect(() => new Curfew(stack, 'Two', propsOf('Two', { state }))).toThrow(/its state is that of One/);
    const encryptionKey = new Key(stack, 'Key');
    expect(() => new Curfew(stack, 'One', propsOf('One', { state, encryptionKey }))).toThrow(/given by its state/);
  });

  it('takes a key and a cluster of the same app', () => {
    const stack = aStack('Own', { env: { account: '123456789012', region: 'eu-west-1' } });
    const encryptionKey = new Key(stack, 'Key');
    new Curfew(stack, 'Prod', propsOf('Prod', { encryptionKey }));
    const template = Template.fromStack(stack);
    for (const { Properties } of Object.values(template.findResources('AWS::SQS::Queue')))
      expect(JSON.stringify(Properties.KmsMasterKeyId)).toContain('Key');
  });

  it('has no code where nothing is packed', () => {
    const { code: _, ...props } = propsOf('Prod');
    expect(() => new Curfew(aStack('Empty'), 'Prod', props)).toThrow(/the package is made by `npm run release`/);
  });
});
