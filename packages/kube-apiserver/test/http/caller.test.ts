import { describe, expect, test } from 'vitest';
import { callerOf } from '../../src/http/caller.ts';

describe('the caller', () => {
  const all = {
    'impersonate-user': 'bob',
    'x-remote-user': 'proxy',
    authorization: 'Bearer user:karpenter',
    'user-agent': 'kubectl/v1.32.4 (linux/amd64)',
  };

  test('is the impersonated user first, then the proxy user, then the user of the token, then the program', () => {
    expect(callerOf(all)).toBe('bob');
    expect(callerOf({ ...all, 'impersonate-user': undefined })).toBe('proxy');
    expect(callerOf({ authorization: all.authorization, 'user-agent': all['user-agent'] })).toBe('karpenter');
    expect(callerOf({ 'user-agent': all['user-agent'] })).toBe('kubectl');
    expect(callerOf({})).toBe('system:anonymous');
  });

  test('is the program when the token names nobody, as one of EKS', () => {
    expect(callerOf({ authorization: 'Bearer k8s-aws-v1.aHR0cHM6Ly9zdHM', 'user-agent': 'curfew-repair/1' })).toBe(
      'curfew-repair',
    );
  });
});
