import { describe, expect, it } from 'vitest';
import { createEksAuthenticator, signEksToken } from '../../../../shared/adapters/kubernetes/eks-token.ts';
import { minutes, seconds } from '../../../../shared/domain/time.ts';
import { createManualClock, MANUAL_CLOCK_START } from '../../../fakes/manual-clock.ts';

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

function urlIn(token: string): URL {
  expect(token).toMatch(/^k8s-aws-v1\.[A-Za-z0-9_-]+$/);
  return new URL(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString());
}

describe('signEksToken', () => {
  // The signatures were made by botocore's RequestSigner for the same instant, credentials and cluster name.
  it.each([
    {
      region: 'us-west-2',
      sessionToken: 'SESSION/TOKEN+with=signs',
      signature: 'a32e35f9c355f52ea6d8470a2d69083ef9fe97cbd6fdd360cf942aaadbb458f3',
    },
    { region: 'eu-central-1', signature: 'afabddaa2d6d126240c8b79867bc69d83fd750229df2c2f0559862f038370b4d' },
  ])('signs as botocore does in $region', async ({ region, signature, ...session }) => {
    const options = { clusterName: 'prod', region, credentials: { ...credentials, ...session } };
    const url = urlIn(await signEksToken(options, MANUAL_CLOCK_START));
    expect(url.origin).toBe(`https://sts.${region}.amazonaws.com`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      Action: 'GetCallerIdentity',
      Version: '2011-06-15',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `AKIDEXAMPLE/20241101/${region}/sts/aws4_request`,
      'X-Amz-Date': '20241101T150000Z',
      'X-Amz-Expires': '60',
      // The cluster name is signed: the token is worth nothing at another cluster.
      'X-Amz-SignedHeaders': 'host;x-k8s-aws-id',
      ...('sessionToken' in session ? { 'X-Amz-Security-Token': session.sessionToken } : {}),
      'X-Amz-Signature': signature,
    });
  });

  it('makes another signature for another cluster', async () => {
    const sign = async (clusterName: string) =>
      urlIn(await signEksToken({ clusterName, region: 'us-west-2', credentials }, MANUAL_CLOCK_START)).searchParams.get(
        'X-Amz-Signature',
      );
    expect(await sign('prod')).not.toBe(await sign('staging'));
  });

  it.each([
    ['us-gov-west-1', 'amazonaws.com'],
    ['cn-north-1', 'amazonaws.com.cn'],
    ['eusc-de-east-1', 'amazonaws.eu'],
    ['us-iso-east-1', 'c2s.ic.gov'],
    ['us-isob-east-1', 'sc2s.sgov.gov'],
  ])('names the STS of the partition of %s', async (region, suffix) => {
    const options = { clusterName: 'prod', region, credentials };
    expect(urlIn(await signEksToken(options, MANUAL_CLOCK_START)).hostname).toBe(`sts.${region}.${suffix}`);
  });
});

describe('EKS authenticator', () => {
  const make = () => {
    const clock = createManualClock();
    const authenticator = createEksAuthenticator({ clusterName: 'prod', region: 'us-west-2', credentials, clock });
    const dateOf = async () => {
      const { authorization = '' } = await authenticator.headers();
      return urlIn(String(authorization).replace('Bearer ', '')).searchParams.get('X-Amz-Date');
    };
    return { clock, authenticator, dateOf };
  };

  it('keeps a token for ten minutes', async () => {
    const { clock, dateOf } = make();
    expect(await dateOf()).toBe('20241101T150000Z');
    await clock.advance(minutes(10) - 1);
    expect(await dateOf()).toBe('20241101T150000Z');
    await clock.advance(1);
    expect(await dateOf()).toBe('20241101T151000Z');
  });

  it('signs a new token after a refusal', async () => {
    const { clock, authenticator, dateOf } = make();
    await dateOf();
    await clock.advance(seconds(5));
    authenticator.invalidate();
    expect(await dateOf()).toBe('20241101T150005Z');
  });

  it('is retryable when there are no credentials', async () => {
    const authenticator = createEksAuthenticator({
      clusterName: 'prod',
      region: 'us-west-2',
      credentials: () => Promise.reject(new Error('no credentials in the environment')),
      clock: createManualClock(),
    });
    await expect(authenticator.headers()).rejects.toMatchObject({ name: 'RetryableError', reason: 'Credentials' });
  });
});
