// Who may talk to the control plane: any user with any groups, by client certificate; users named up front also by
// bearer token, as functions do on EKS.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type CertificateAuthority, createCertificateAuthority, createServiceAccountKey } from './pki.ts';

/** A user as the API server's RBAC sees it. */
export type User = { readonly name: string; readonly groups?: readonly string[] };

/** Makes credentials for one control plane. */
export type Identities = {
  readonly caPem: string;
  /** The group of administrators, to whom RBAC does not apply. */
  readonly admin: User;
  /** Writes a kubeconfig file, readable by this user only, and returns its path. */
  readonly kubeconfigFor: (user: string, groups?: readonly string[]) => string;
  /** The bearer token of a user named up front. */
  readonly tokenFor: (user: string) => string;
  /** What an HTTPS request needs to be made as the administrator. */
  readonly adminTls: { readonly ca: string; readonly cert: string; readonly key: string };
};

const ADMIN: User = { name: 'admin', groups: ['system:masters'] };
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  // Writes with their bodies: a test reads out of them what a part of Curfew did.
  rules: [
    { level: 'RequestResponse', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
    { level: 'Metadata' },
  ],
};

/** Writes the API server's certificate, keys, tokens and audit policy into `directory`. */
export function createIdentities(directory: string, url: string, users: readonly User[]): Identities {
  const authority = createCertificateAuthority();
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const serving = authority.issueServing();
  write('ca.crt', authority.certPem);
  write('serving.crt', serving.certPem);
  write('serving.key', serving.keyPem);
  write('service-accounts.key', createServiceAccountKey());
  write('audit-policy.yaml', JSON.stringify(AUDIT_POLICY));
  const tokens = new Map(users.map(user => [user.name, randomBytes(24).toString('base64url')]));
  write('tokens.csv', users.map(user => tokenLine(user, tokens.get(user.name) ?? '')).join(''));
  const admin = authority.issueClient(toSubject(ADMIN));
  let files = 0;
  return {
    caPem: authority.certPem,
    admin: ADMIN,
    adminTls: { ca: authority.certPem, cert: admin.certPem, key: admin.keyPem },
    kubeconfigFor(name, groups) {
      const known = users.find(user => user.name === name && (groups === undefined || sameGroups(user, groups)));
      const credential = known
        ? { token: tokens.get(name) }
        : certificateCredential(authority, { name, groups: groups ?? [] });
      return write(`kubeconfig-${(files += 1)}.yaml`, kubeconfig(url, authority.certPem, name, credential));
    },
    tokenFor(name) {
      const token = tokens.get(name);
      if (token === undefined) throw new Error(`user ${name} has no token: name it in the option "users"`);
      return token;
    },
  };
}

function toSubject(user: User): { commonName: string; organizations: readonly string[] } {
  return { commonName: user.name, organizations: user.groups ?? [] };
}

function sameGroups(user: User, groups: readonly string[]): boolean {
  return (user.groups ?? []).toSorted().join() === groups.toSorted().join();
}

/** One line of the API server's token file: token, user, uid, "group,group". */
function tokenLine(user: User, token: string): string {
  const quoted = [token, user.name, user.name, (user.groups ?? []).join(',')].map(field => `"${field}"`);
  return `${quoted.join(',')}\n`;
}

function certificateCredential(authority: CertificateAuthority, user: User): Record<string, string> {
  const { certPem, keyPem } = authority.issueClient(toSubject(user));
  return { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) };
}

/** A kubeconfig as JSON, which is YAML. */
function kubeconfig(url: string, caPem: string, name: string, credential: object): string {
  const context = 'curfew-test';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: context, cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name, user: credential }],
    contexts: [{ name: context, context: { cluster: context, user: name } }],
    'current-context': context,
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
