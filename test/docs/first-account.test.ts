/** The names by which docs/sandbox.md finds what CloudFormation has made: the stack's, and what the logical id begins with. */
import { expect, it } from 'vitest';
import { synthesize } from '../infra/synthesized.ts';
import { documentOf } from './observability.ts';

const { functionsTemplate } = synthesize({});
const resources = Object.entries<{ Type: string }>(functionsTemplate.toJSON()['Resources']);
const asked = [
  ['FunctionName', 'AWS::Lambda::Function'],
  ['RoleName', 'AWS::IAM::Role'],
  ['log-group-name-prefix', 'AWS::Logs::LogGroup'],
].flatMap(([by = '', type = '']) =>
  [...documentOf('docs/sandbox.md').text.matchAll(new RegExp(`${by}[ ,']+Curfew-(\\w+)`, 'g'))].map(
    ([, name = '']) => ({
      type,
      name,
    }),
  ),
);

it('names some', () => expect(asked.map(({ type }) => type)).toHaveLength(3));

it.each(asked)('$type Curfew-$name', ({ type, name }) => {
  expect(resources.filter(([id, { Type }]) => Type === type && id.startsWith(name))).toHaveLength(1);
});
