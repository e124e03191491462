/** The file that points kubectl and client libraries at the server. */
import { stringify } from 'yaml';

/** A kubeconfig with one context, `curfew`, whose user is `admin`. `certificateAuthority` is PEM. */
export function kubeconfigFor(url: string, certificateAuthority?: string): string {
  // Client libraries refuse plain HTTP unless they are told not to verify TLS.
  const trust =
    certificateAuthority === undefined
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'curfew', cluster: { server: url, ...trust } }],
    users: [{ name: 'admin', user: { token: 'user:admin' } }],
    contexts: [{ name: 'curfew', context: { cluster: 'curfew', user: 'admin' } }],
    'current-context': 'curfew',
  });
}
