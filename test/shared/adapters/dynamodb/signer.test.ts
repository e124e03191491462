import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSigner } from '../../../../shared/adapters/dynamodb/signer.ts';

/** What the library asks of a hash. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as string);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

const headerName = fc.stringMatching(/^[a-z][a-z-]{0,12}[a-z]$/);
const headerValue = fc.stringMatching(/^[ -~]{0,40}$/);
const others = ['User-Agent', 'Connection', 'X-Amzn-Trace-Id', 'Proxy-Authorization', 'Sec-Fetch-Mode', 'X-Amz-Date'];

const request = fc.record({
  method: fc.constant('POST'),
  protocol: fc.constant('https:'),
  hostname: fc.constant('dynamodb.eu-west-1.amazonaws.com'),
  path: fc.constant('/'),
  query: fc.constant({}),
  body: fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array()),
  headers: fc
    .tuple(fc.dictionary(headerName, headerValue), fc.dictionary(fc.constantFrom(...others), headerValue))
    .map(([some, special]) => ({ host: 'dynamodb.eu-west-1.amazonaws.com', ...some, ...special })),
});
const identity = fc.record(
  { accessKeyId: fc.stringMatching(/^[A-Z]{4,20}$/), secretAccessKey: fc.string(), sessionToken: headerValue },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
);
const signingDate = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });

it('signs as the library does, and again what was signed before', async () => {
  let credentials = { accessKeyId: '', secretAccessKey: '' };
  const signer = createSigner(
    () => Promise.resolve(credentials),
    () => Promise.resolve('eu-west-1'),
  );
  const library = new SignatureV4({
    service: 'dynamodb',
    region: 'eu-west-1',
    credentials: () => Promise.resolve(credentials),
    sha256: Sha256,
  });
  const region = fc.option(fc.constant('us-east-1'), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(request, identity, signingDate, region, async (asked, who, date, signingRegion) => {
      credentials = who;
      const options = { signingDate: date, ...(signingRegion !== undefined && { signingRegion }) };
      const { headers } = await signer.sign(asked, options);
      const expected = await library.sign(asked, options);
      expect(headers).toEqual(expected.headers);
      const later = { ...options, signingDate: new Date(date.getTime() + 86_400_000) };
      const again = await signer.sign({ ...asked, headers }, later);
      expect(again.headers).toEqual((await library.sign(expected, later)).headers);
    }),
    { numRuns: 200 },
  );
});
