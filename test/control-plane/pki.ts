// A certificate authority of a few dozen lines: what a test control plane needs to trust itself and to let any
// user in by client certificate. Node can sign and verify but not write X.509, hence the small DER encoder.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate and its private key, both PEM. */
export type Credential = { readonly certPem: string; readonly keyPem: string };

/** The subject of a client certificate, as Kubernetes reads it: common name = user, organizations = groups. */
export type Subject = { readonly commonName: string; readonly organizations?: readonly string[] };

/** Signs certificates that live as long as one test run needs. */
export type CertificateAuthority = {
  readonly certPem: string;
  /** A serving certificate for 127.0.0.1 and localhost. */
  issueServing(): Credential;
  /** A client certificate for a Kubernetes user and groups, valid until `notAfter`. */
  issueClient(subject: Subject, notAfter?: number): Credential;
};

const VALIDITY_DAYS = 365;
const DAY_MS = 24 * 60 * 60 * 1000;
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  dnsName: 0x82,
  ipAddress: 0x87,
  version: 0xa0,
  extensions: 0xa3,
} as const;
const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

/** Creates a certificate authority with a fresh key. */
export function createCertificateAuthority(): CertificateAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = name({ commonName: 'curfew-test-ca' });
  const issue = (subject: Buffer, publicKey: KeyObject, extensions: readonly Buffer[], notAfter?: number): string =>
    certificate({ issuer, subject, publicKey, extensions, notAfter, signingKey: keys.privateKey });
  const issueLeaf = (subject: Subject, extensions: readonly Buffer[], notAfter?: number): Credential => {
    const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return {
      certPem: issue(name(subject), leaf.publicKey, [DIGITAL_SIGNATURE, ...extensions], notAfter),
      keyPem: leaf.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    };
  };
  return {
    certPem: issue(issuer, keys.publicKey, [IS_CA, CERTIFICATE_SIGNING]),
    issueServing: () => issueLeaf({ commonName: 'kube-apiserver' }, [SERVER_USAGE, LOOPBACK_NAMES]),
    issueClient: (subject, notAfter) => issueLeaf(subject, [CLIENT_USAGE], notAfter),
  };
}

/** A private key that signs service-account tokens, PEM. */
export function createServiceAccountKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'sec1', format: 'pem' })
    .toString();
}

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const digits = length.subarray(length.findIndex(byte => byte !== 0));
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, body]);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const base128 = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) base128.unshift((left & 0x7f) | 0x80);
    bytes.push(...base128);
  }
  return der(TAG.oid, Buffer.from(bytes));
}

function name(subject: Subject): Buffer {
  const attribute = (type: string, value: string): Buffer =>
    der(TAG.set, der(TAG.sequence, oid(type), der(TAG.utf8, Buffer.from(value))));
  return der(
    TAG.sequence,
    ...(subject.organizations ?? []).map(organization => attribute(OID.organization, organization)),
    attribute(OID.commonName, subject.commonName),
  );
}

function extension(type: string, value: Buffer, critical = false): Buffer {
  const flag = critical ? [der(TAG.boolean, Buffer.from([0xff]))] : [];
  return der(TAG.sequence, oid(type), ...flag, der(TAG.octetString, value));
}

const bits = (unused: number, byte: number): Buffer => der(TAG.bitString, Buffer.from([unused, byte]));
const IS_CA = extension(OID.basicConstraints, der(TAG.sequence, der(TAG.boolean, Buffer.from([0xff]))), true);
const CERTIFICATE_SIGNING = extension(OID.keyUsage, bits(2, 0x04), true);
const DIGITAL_SIGNATURE = extension(OID.keyUsage, bits(7, 0x80), true);
const SERVER_USAGE = extension(OID.extendedKeyUsage, der(TAG.sequence, oid(OID.serverAuth)));
const CLIENT_USAGE = extension(OID.extendedKeyUsage, der(TAG.sequence, oid(OID.clientAuth)));
const LOOPBACK_NAMES = extension(
  OID.subjectAltName,
  der(TAG.sequence, der(TAG.dnsName, Buffer.from('localhost')), der(TAG.ipAddress, Buffer.from([127, 0, 0, 1]))),
);

type CertificateFields = {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  /** Default: in a year. */
  readonly notAfter: number | undefined;
  readonly signingKey: KeyObject;
};

/** RFC 5280 §4.1, version 3, signed with ECDSA over SHA-256. */
function certificate(fields: CertificateFields): string {
  const algorithm = der(TAG.sequence, oid(OID.ecdsaWithSha256));
  const toBeSigned = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([0x01]), randomBytes(8)),
    algorithm,
    fields.issuer,
    der(TAG.sequence, utcTime(Date.now() - DAY_MS), utcTime(fields.notAfter ?? Date.now() + VALIDITY_DAYS * DAY_MS)),
    fields.subject,
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, der(TAG.sequence, ...fields.extensions)),
  );
  const signature = der(TAG.bitString, Buffer.from([0]), sign('sha256', toBeSigned, fields.signingKey));
  const base64 = der(TAG.sequence, toBeSigned, algorithm, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

function utcTime(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(TAG.utcTime, Buffer.from(`${digits}Z`));
}
