/**
 * CloudFormation's intrinsic functions, resolved as a deployment would: references between resources, and between stacks by exports or outputs.
 * Conditions and macros are refused; the templates of this repository have none.
 */
import { isObject } from './json-object.ts';

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>> | undefined;
}

export interface StackTemplate {
  readonly stackName: string;
  readonly resources: Readonly<Record<string, TemplateResource>>;
  readonly outputs: Readonly<
    Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: unknown } | undefined }>
  >;
  readonly parameters: Readonly<Record<string, { readonly Default?: unknown }>>;
}

/** What `Ref` and `Fn::GetAtt` answer about a resource. */
export interface ResourceIdentity {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface ResolverOptions {
  readonly stacks: readonly StackTemplate[];
  readonly region: string;
  readonly account: string;
  /** Values given to the deployment. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly identify: (stack: StackTemplate, logicalId: string, resource: TemplateResource) => ResourceIdentity;
}

export interface Resolver {
  /** The value with every intrinsic replaced. Throws an Error that names the stack for what cannot be resolved. */
  resolve(stack: StackTemplate, value: unknown): unknown;
}

const NO_VALUE = Symbol('AWS::NoValue');

/** `AWS::NoValue` takes its property or list entry away. */
export function createResolver({ stacks, region, account, parameters = {}, identify }: ResolverOptions): Resolver {
  return { resolve };

  function resolve(stack: StackTemplate, value: unknown): unknown {
    if (Array.isArray(value)) return value.map(entry => resolve(stack, entry)).filter(entry => entry !== NO_VALUE);
    if (!isObject(value)) return value;
    const [first, ...others] = Object.entries(value);
    if (first !== undefined && others.length === 0 && (first[0] === 'Ref' || first[0].startsWith('Fn::'))) {
      return resolveIntrinsic(stack, ...first);
    }
    const entries = Object.entries(value).map(([key, entry]): [string, unknown] => [key, resolve(stack, entry)]);
    return Object.fromEntries(entries.filter(([, entry]) => entry !== NO_VALUE));
  }

  function resolveIntrinsic(stack: StackTemplate, name: string, argument: unknown): unknown {
    switch (name) {
      case 'Ref':
        return ref(stack, text(stack, argument));
      case 'Fn::GetAtt': {
        const [logicalId = '', ...attribute] =
          typeof argument === 'string' ? argument.split('.') : list(stack, argument);
        return getAtt(stack, logicalId, attribute.join('.'));
      }
      case 'Fn::Join': {
        const [separator, parts] = pair(stack, argument);
        return list(stack, parts).join(text(stack, separator));
      }
      case 'Fn::Split': {
        const [separator, whole] = pair(stack, argument);
        return text(stack, whole).split(text(stack, separator));
      }
      case 'Fn::Select': {
        const [index, values] = pair(stack, argument);
        return list(stack, values)[Number(text(stack, index))];
      }
      case 'Fn::Sub':
        return substitute(stack, argument);
      case 'Fn::ImportValue':
        return importValue(text(stack, argument));
      case 'Fn::GetStackOutput':
        return stackOutput(stack, argument);
      default:
        throw new Error(`stack ${stack.stackName} uses ${name}, which does not run locally`);
    }
  }

  function ref(stack: StackTemplate, name: string): unknown {
    const pseudo = pseudoParameter(stack, name);
    if (pseudo !== undefined) return pseudo;
    const parameter = stack.parameters[name];
    if (parameter === undefined) return identityOf(stack, name).ref;
    const given = parameters[name];
    if (given !== undefined) return given;
    if (parameter.Default !== undefined) return parameter.Default;
    throw new Error(`parameter ${name} of stack ${stack.stackName} has no value`);
  }

  function pseudoParameter(stack: StackTemplate, name: string): unknown {
    switch (name) {
      case 'AWS::Region':
        return region;
      case 'AWS::AccountId':
        return account;
      case 'AWS::Partition':
        return 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::StackName':
        return stack.stackName;
      case 'AWS::StackId':
        return `arn:aws:cloudformation:${region}:${account}:stack/${stack.stackName}/local`;
      case 'AWS::NoValue':
        return NO_VALUE;
      default:
        return undefined;
    }
  }

  function getAtt(stack: StackTemplate, logicalId: string, attribute: string): string {
    const value = identityOf(stack, logicalId).attributes[attribute];
    if (value === undefined) throw new Error(`stack ${stack.stackName}: ${logicalId} has no attribute ${attribute}`);
    return value;
  }

  function identityOf(stack: StackTemplate, logicalId: string): ResourceIdentity {
    const resource = stack.resources[logicalId];
    if (resource === undefined) throw new Error(`stack ${stack.stackName} has no resource ${logicalId}`);
    return identify(stack, logicalId, resource);
  }

  function substitute(stack: StackTemplate, argument: unknown): string {
    const [template, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return text(stack, template).replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal === '!') return `\${${name}}`;
      const variable: unknown = isObject(variables) ? variables[name] : undefined;
      if (variable !== undefined) return text(stack, variable);
      return text(stack, name.includes('.') ? { 'Fn::GetAtt': name } : { Ref: name });
    });
  }

  function importValue(exportName: string): unknown {
    for (const stack of stacks) {
      for (const { Value, Export } of Object.values(stack.outputs)) {
        if (Export !== undefined && resolve(stack, Export.Name) === exportName) return resolve(stack, Value);
      }
    }
    throw new Error(`no stack exports ${exportName}`);
  }

  function stackOutput(stack: StackTemplate, argument: unknown): unknown {
    const { StackName, OutputName } = isObject(argument) ? argument : {};
    const [stackName, outputName] = [text(stack, StackName), text(stack, OutputName)];
    const other = stacks.find(candidate => candidate.stackName === stackName);
    const output = other?.outputs[outputName];
    if (other === undefined || output === undefined) throw new Error(`stack ${stackName} has no output ${outputName}`);
    return resolve(other, output.Value);
  }

  function text(stack: StackTemplate, value: unknown): string {
    const resolved = resolve(stack, value);
    if (typeof resolved === 'string') return resolved;
    if (typeof resolved === 'number' || typeof resolved === 'boolean') return String(resolved);
    throw new Error(`stack ${stack.stackName}: ${JSON.stringify(value)} must be text`);
  }

  function list(stack: StackTemplate, value: unknown): string[] {
    const resolved = resolve(stack, value);
    if (Array.isArray(resolved)) return resolved.map(entry => text(stack, entry));
    throw new Error(`stack ${stack.stackName}: ${JSON.stringify(value)} must be a list`);
  }
}

function pair(stack: StackTemplate, value: unknown): [unknown, unknown] {
  if (Array.isArray(value) && value.length === 2) return [value[0], value[1]];
  throw new Error(`stack ${stack.stackName}: ${JSON.stringify(value)} must have two parts`);
}
