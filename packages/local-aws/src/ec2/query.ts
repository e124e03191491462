/** Lists, filters and pages in the parameters of EC2's Query protocol. */
import { AwsError } from './aws-error.ts';
import type { InstanceView } from './instances.ts';

/** The values of `InstanceId.1`, `InstanceId.2`, … */
export function listOf(parameters: URLSearchParams, name: string): string[] {
  return [...parameters].filter(([key]) => key.startsWith(`${name}.`)).map(([, value]) => value);
}

/** What an instance must fulfil, each of `Filter.1.Name` with one of `Filter.1.Value.1`, …; throws for one that does not run here. */
export function filtersOf(parameters: URLSearchParams): readonly ((instance: InstanceView) => boolean)[] {
  const names = [...parameters].filter(([key]) => /^Filter\.\d+\.Name$/.test(key));
  return names.map(([key, name]) => {
    const values = listOf(parameters, key.replace(/Name$/, 'Value'));
    // `*` and `?` are wildcards of EC2's.
    if (values.some(value => /[*?]/.test(value))) throw notHere(`the wildcard in ${name}`);
    if (name === 'instance-state-name') return ({ state }) => values.includes(state);
    if (name.startsWith('tag:')) {
      return ({ tags }) => {
        const value = tags[name.slice('tag:'.length)];
        return value !== undefined && values.includes(value);
      };
    }
    throw notHere(`the filter ${name}`);
  });
}

/** One page of at most `MaxResults`, 5 to 1000 as EC2 has it, and where the next one begins. */
export function pageOf(
  instances: readonly InstanceView[],
  parameters: URLSearchParams,
  areNamed: boolean,
): { readonly page: readonly InstanceView[]; readonly nextToken: string | undefined } {
  const size = parameters.get('MaxResults');
  if (size !== null && areNamed) {
    throw new AwsError(
      'InvalidParameterCombination',
      'The parameter instancesSet cannot be used with the parameter maxResults',
    );
  }
  if (size !== null && !(Number(size) >= 5 && Number(size) <= 1000)) {
    throw new AwsError(
      'InvalidParameterValue',
      `Value ( ${size} ) for parameter maxResults is invalid. Expecting a value between 5 and 1000.`,
    );
  }
  const start = Number(parameters.get('NextToken') ?? 0);
  if (!Number.isInteger(start)) throw new AwsError('InvalidParameterValue', 'Unable to parse pagination token');
  const end = size === null ? instances.length : start + Number(size);
  return { page: instances.slice(start, end), nextToken: end < instances.length ? String(end) : undefined };
}

const notHere = (what: string): AwsError => new AwsError('UnsupportedOperation', `${what} does not run locally`);
