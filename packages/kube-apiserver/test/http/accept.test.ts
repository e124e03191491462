import { describe, expect, test } from 'vitest';
import { negotiate } from '../../src/http/accept.ts';
import { ApiStatusError } from '../../src/types.ts';

describe('content negotiation', () => {
  test.each([
    [undefined, { encoding: 'json' }],
    ['*/*', { encoding: 'json' }],
    ['application/yaml', { encoding: 'yaml' }],
    ['application/json;stream=watch', { encoding: 'json' }],
    ['application/vnd.kubernetes.protobuf, application/json', { encoding: 'json' }],
    [
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
      { encoding: 'json', as: 'Table', metaVersion: 'v1' },
    ],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', { encoding: 'json' }],
    ['application/json;q=0.1, application/yaml', { encoding: 'yaml' }],
    [
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
      { encoding: 'json', as: 'PartialObjectMetadataList', metaVersion: 'v1beta1' },
    ],
  ])('%s', (header, expected) => {
    expect(negotiate(header)).toEqual(expected);
  });

  test.each(['application/vnd.kubernetes.protobuf', 'text/html', 'application/json;q=0', 'application/json;as=Table'])(
    '%s is not acceptable',
    header => {
      expect(() => negotiate(header)).toThrow(ApiStatusError);
    },
  );
});
