import { describe, expect, test } from 'vitest';
import { parseRequestPath } from '../../src/http/request-path.ts';

describe('a request path', () => {
  test.each([
    ['/', { kind: 'root' }],
    ['/healthz', { kind: 'health', check: 'healthz' }],
    ['/readyz/etcd', { kind: 'health', check: 'readyz' }],
    ['/version', { kind: 'version' }],
    ['/api', { kind: 'core-versions' }],
    ['/apis/', { kind: 'groups' }],
    ['/apis/karpenter.sh', { kind: 'group', group: 'karpenter.sh' }],
    ['/api/v1', { kind: 'group-version', group: '', version: 'v1' }],
    ['/apis/karpenter.sh/v1', { kind: 'group-version', group: 'karpenter.sh', version: 'v1' }],
    ['/openapi/v2', { kind: 'openapi-v2' }],
    ['/openapi/v3', { kind: 'openapi-v3-index' }],
    ['/openapi/v3/api/v1', { kind: 'openapi-v3', group: '', version: 'v1' }],
    ['/openapi/v3/apis/apps/v1', { kind: 'openapi-v3', group: 'apps', version: 'v1' }],
  ])('%s names a document', (path, expected) => {
    expect(parseRequestPath(path)).toEqual(expected);
  });

  test.each([
    ['/api/v1/nodes', { resource: 'nodes' }],
    ['/api/v1/nodes/n1', { resource: 'nodes', name: 'n1' }],
    ['/api/v1/nodes/n1/status', { resource: 'nodes', name: 'n1', subresource: 'status' }],
    ['/api/v1/namespaces', { resource: 'namespaces' }],
    ['/api/v1/namespaces/prod', { resource: 'namespaces', name: 'prod' }],
    ['/api/v1/namespaces/prod/finalize', { resource: 'namespaces', name: 'prod', subresource: 'finalize' }],
    ['/api/v1/namespaces/prod/status', { resource: 'namespaces', name: 'prod', subresource: 'status' }],
    ['/api/v1/namespaces/prod/pods', { namespace: 'prod', resource: 'pods' }],
    [
      '/api/v1/namespaces/prod/pods/web-0/eviction',
      { namespace: 'prod', resource: 'pods', name: 'web-0', subresource: 'eviction' },
    ],
    ['/api/v1/namespaces/prod/pods/a%2Fb', { namespace: 'prod', resource: 'pods', name: 'a/b' }],
  ])('%s names a resource of the core group', (path, expected) => {
    expect(parseRequestPath(path)).toEqual({ kind: 'resource', group: '', version: 'v1', ...expected });
  });

  test('a namespaced custom resource may have the plural "status"', () => {
    expect(parseRequestPath('/apis/example.com/v1/namespaces/prod/status')).toEqual({
      kind: 'resource',
      group: 'example.com',
      version: 'v1',
      namespace: 'prod',
      resource: 'status',
    });
  });

  test.each(['/nothing', '/api/v1/nodes/n1/status/more', '/openapi/v4', '/openapi/v3/apis/apps', '/api/v1/%zz'])(
    '%s is unknown',
    path => {
      expect(parseRequestPath(path)).toEqual({ kind: 'unknown' });
    },
  );
});
