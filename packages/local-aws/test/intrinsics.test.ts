import { describe, expect, it } from 'vitest';
import { createResolver, type StackTemplate } from '../src/intrinsics.ts';

const stack: StackTemplate = {
  stackName: 'One',
  resources: { Queue: { Type: 'AWS::SQS::Queue' } },
  outputs: {},
  parameters: { Given: { Default: 'by default' }, Asked: {} },
};
const other: StackTemplate = {
  stackName: 'Two',
  resources: {},
  outputs: { Answer: { Value: { 'Fn::Join': ['-', ['a', { Ref: 'AWS::StackName' }]] }, Export: { Name: 'Exported' } } },
  parameters: {},
};
const resolver = createResolver({
  stacks: [stack, other],
  region: 'eu-west-1',
  account: '1',
  identify: (_, logicalId) => ({ ref: `ref-${logicalId}`, attributes: { Arn: `arn-${logicalId}` } }),
});

describe('intrinsic functions', () => {
  it.each<[string, unknown, unknown]>([
    ['Ref of a resource', { Ref: 'Queue' }, 'ref-Queue'],
    ['Ref of a parameter', { Ref: 'Given' }, 'by default'],
    ['Ref of a pseudo parameter', { Ref: 'AWS::Region' }, 'eu-west-1'],
    ['GetAtt as a list', { 'Fn::GetAtt': ['Queue', 'Arn'] }, 'arn-Queue'],
    ['GetAtt as text', { 'Fn::GetAtt': 'Queue.Arn' }, 'arn-Queue'],
    ['Join', { 'Fn::Join': [':', ['a', { Ref: 'Queue' }, 'b']] }, 'a:ref-Queue:b'],
    ['Split', { 'Fn::Split': [',', 'a,b'] }, ['a', 'b']],
    ['Select', { 'Fn::Select': [1, { 'Fn::Split': [',', 'a,b'] }] }, 'b'],
    ['Sub', { 'Fn::Sub': '${AWS::AccountId}/${Queue}/${Queue.Arn}/${!Kept}' }, '1/ref-Queue/arn-Queue/${Kept}'],
    ['Sub with variables', { 'Fn::Sub': ['${X}${X}', { X: { Ref: 'Queue' } }] }, 'ref-Queueref-Queue'],
    ['ImportValue', { 'Fn::ImportValue': 'Exported' }, 'a-Two'],
    ['GetStackOutput', { 'Fn::GetStackOutput': { StackName: 'Two', OutputName: 'Answer' } }, 'a-Two'],
    ['what is nested', { a: [{ b: { Ref: 'Queue' } }] }, { a: [{ b: 'ref-Queue' }] }],
    ['no value', { a: { Ref: 'AWS::NoValue' }, b: [1, { Ref: 'AWS::NoValue' }] }, { b: [1] }],
    ['plain values', { a: 1, Ref: 'x', b: null }, { a: 1, Ref: 'x', b: null }],
  ])('resolve %s', (_, value, expected) => {
    expect(resolver.resolve(stack, value)).toEqual(expected);
  });

  it.each<[string, unknown, string]>([
    ['a resource that is not there', { Ref: 'Gone' }, 'stack One has no resource Gone'],
    ['an attribute that is not there', { 'Fn::GetAtt': ['Queue', 'Colour'] }, 'Queue has no attribute Colour'],
    ['a parameter without a value', { Ref: 'Asked' }, 'parameter Asked of stack One has no value'],
    ['an export that is not there', { 'Fn::ImportValue': 'Gone' }, 'no stack exports Gone'],
    [
      'an output that is not there',
      { 'Fn::GetStackOutput': { StackName: 'Two', OutputName: 'Gone' } },
      'stack Two has no output Gone',
    ],
    ['what is not text', { 'Fn::Join': [[], []] }, 'must be text'],
    ['a missing part', { 'Fn::Join': [','] }, 'must have two parts'],
  ])('refuse %s', (_, value, message) => {
    expect(() => resolver.resolve(stack, value)).toThrow(message);
  });
});
