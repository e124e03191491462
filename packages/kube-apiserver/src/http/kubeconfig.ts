/** The file that points kubectl and client libraries at the server. */
import { stringify } from 'yaml';

/** A kubeconfig with one context, `curfew`, and one user. `certificateAuthority` is PEM. */
export function kubeconfigFor(url: string, certificateAuthority?: string, user = 'admin'): string {
  // Client libraries refuse plain HTTP unless they are told not to verify TLS.
  const trust =
    certificateAuthority === undefined
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'curfew', cluster: { server: url, ...trust } }],
    users: [{ name: user, user: { token: `user:${user}` } }],
    contexts: [{ name: 'curfew', context: { cluster: 'curfew', user } }],
    'current-context': 'curfew',
  });
}
