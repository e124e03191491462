import { expect, it } from 'vitest';
import { removeSettings } from './own-environment.ts';

it('leaves nothing of AWS and Kubernetes that the user has, and reads no file of theirs', () => {
  const env = {
    HOME: '/home/jane',
    AWS_PROFILE: 'corp',
    AWS_USE_FIPS_ENDPOINT: 'true',
    AWS_CONFIG_FILE: '/home/jane/aws',
    KUBECONFIG: '/home/jane/prod',
    POWERTOOLS_DEV: 'true',
    CDK_OUTDIR: '/tmp/out',
  };
  removeSettings(env);
  expect(env).toEqual({
    HOME: '/home/jane',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
});
