/**
 * Reads a CDK cloud assembly (`cdk.out`) into the model of what runs here. Everything that the model does not know (alarms, log
 * retention) has no effect on one machine; what would have an effect but is not supported is refused, so that it is never silently different.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import { isObject } from './json-object.ts';
import { createResolver, type Resolver, type StackTemplate, type TemplateResource } from './intrinsics.ts';
import { checkRoles } from './iam/trust.ts';
import type { AwsModel, RoleModel } from './model.ts';
import { createIdentities } from './resource-identities.ts';
import { toAccessEntry, toPodIdentity, toPolicy, toRole } from './iam/template-identities.ts';
import { assetManifestSchema, manifestSchema, templateSchema } from './assembly-schemas.ts';
import {
  toEventSource,
  toFunction,
  toQueue,
  toQueuePolicy,
  toRule,
  toSchedule,
  toTable,
  type ReadContext,
} from './template-resources.ts';

export interface LoadOptions {
  readonly region: string;
  readonly account: string;
  readonly sqsEndpoint: string;
  /** Wins over what the template says, for every function that has the variable; it may stand for what only a deployment knows. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Values of CloudFormation parameters by name; they win over a default. */
  readonly parameters?: Readonly<Record<string, string>>;
}

const READERS = {
  tables: { types: ['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'], read: toTable },
  queues: { types: ['AWS::SQS::Queue'], read: toQueue },
  queuePolicies: { types: ['AWS::SQS::QueuePolicy'], read: toQueuePolicy },
  rules: { types: ['AWS::Events::Rule'], read: toRule },
  functions: { types: ['AWS::Lambda::Function'], read: toFunction },
  eventSources: { types: ['AWS::Lambda::EventSourceMapping'], read: toEventSource },
  schedules: { types: ['AWS::Scheduler::Schedule'], read: toSchedule },
  roles: { types: ['AWS::IAM::Role'], read: toRole },
  policies: { types: ['AWS::IAM::Policy'], read: toPolicy },
  accessEntries: { types: ['AWS::EKS::AccessEntry'], read: toAccessEntry },
  podIdentities: { types: ['AWS::EKS::PodIdentityAssociation'], read: toPodIdentity },
} as const;

/** Throws an Error that says what is missing when the folder is not an assembly, or has something that does not run locally. */
export function loadAssembly(assemblyDir: string, options: LoadOptions): AwsModel {
  const { region, account, environment = {}, parameters = {} } = options;
  const { stacks, assets } = readStacks(assemblyDir);
  const identify = createIdentities({ ...options, resolve: (stack, value) => resolver.resolve(stack, value) });
  const resolver: Resolver = createResolver({ stacks, region, account, parameters, identify });
  const resources = stacks.flatMap(stack =>
    Object.entries(stack.resources).map(([logicalId, resource]) => ({ stack, logicalId, resource })),
  );
  const read = <Model>({
    types,
    read: reader,
  }: {
    types: readonly string[];
    read: (context: ReadContext) => Model;
  }): Model[] =>
    resources
      .filter(({ resource }) => types.includes(resource.Type))
      .map(({ stack, logicalId, resource }) => {
        const properties = resolver.resolve(stack, withEnvironment(resource, environment));
        try {
          return reader({ properties, identity: identify(stack, logicalId, resource), assets });
        } catch (error) {
          throw new Error(`reading ${resource.Type} ${logicalId} of stack ${stack.stackName}`, { cause: error });
        }
      });
  const policies = read(READERS.policies);
  const withPolicies = (role: RoleModel): RoleModel => {
    const own = policies.filter(({ roles }) => roles.includes(role.name));
    return { ...role, statements: [...role.statements, ...own.flatMap(({ statements }) => statements)] };
  };
  const model: AwsModel = {
    region,
    account,
    stacks: stacks.map(stack => ({
      name: stack.stackName,
      outputs: Object.fromEntries(
        Object.entries(stack.outputs).map(([id, { Value }]) => [id, String(resolver.resolve(stack, Value))]),
      ),
    })),
    tables: read(READERS.tables),
    queues: read(READERS.queues),
    queuePolicies: read(READERS.queuePolicies),
    buses: resources
      .filter(({ resource }) => resource.Type === 'AWS::Events::EventBus')
      .map(({ stack, logicalId, resource }) => identify(stack, logicalId, resource).ref),
    rules: read(READERS.rules),
    functions: read(READERS.functions),
    eventSources: read(READERS.eventSources),
    schedules: read(READERS.schedules),
    roles: read(READERS.roles).map(withPolicies),
    accessEntries: read(READERS.accessEntries),
    podIdentities: read(READERS.podIdentities),
  };
  checkRoles(model);
  return model;
}

/** The properties, with overridden variables put in before anything is resolved: the template's own value may need a real deployment. */
function withEnvironment(
  { Type, Properties = {} }: TemplateResource,
  environment: Readonly<Record<string, string>>,
): unknown {
  const { Environment } = Properties;
  if (Type !== 'AWS::Lambda::Function' || !isObject(Environment) || !isObject(Environment['Variables']))
    return Properties;
  const known = Object.entries(environment).filter(
    ([name]) => isObject(Environment['Variables']) && name in Environment['Variables'],
  );
  return { ...Properties, Environment: { Variables: { ...Environment['Variables'], ...Object.fromEntries(known) } } };
}

function readStacks(assemblyDir: string): { stacks: StackTemplate[]; assets: ReadonlyMap<string, string> } {
  const file = join(assemblyDir, 'manifest.json');
  if (!existsSync(file)) throw new Error(`${assemblyDir} is not a synthesized app: ${file} is missing`);
  const { artifacts } = manifestSchema.parse(readJson(file));
  const stacks: StackTemplate[] = [];
  const assets = new Map<string, string>();
  for (const [id, { type, properties }] of Object.entries(artifacts)) {
    if (type === 'aws:cloudformation:stack' && properties.templateFile !== undefined) {
      const { Resources, Outputs, Parameters } = templateSchema.parse(
        readJson(join(assemblyDir, properties.templateFile)),
      );
      stacks.push({
        stackName: properties.stackName ?? id,
        resources: Resources,
        outputs: Outputs,
        parameters: Parameters,
      });
    } else if (type === 'cdk:asset-manifest' && properties.file !== undefined) {
      for (const { source, destinations } of Object.values(
        assetManifestSchema.parse(readJson(join(assemblyDir, properties.file))).files,
      )) {
        for (const { objectKey } of Object.values(destinations))
          assets.set(objectKey, resolvePath(assemblyDir, source.path));
      }
    }
  }
  return { stacks, assets };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8')) as unknown;
}
