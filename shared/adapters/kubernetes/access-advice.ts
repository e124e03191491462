const WHERE_IS_IT = 'check the address in the kubeconfig, and whether a VPN or firewall is in between';
const WHOSE_IS_IT = 'check certificate-authority-data of the cluster in the kubeconfig';
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there; does the cluster run? If so, correct the address in the kubeconfig'],
  ['ENOTFOUND', `no host has this name; ${WHERE_IS_IT}`],
  ['EAI_AGAIN', `the name cannot be looked up; ${WHERE_IS_IT}`],
  ['EHOSTUNREACH', WHERE_IS_IT],
  ['ENETUNREACH', WHERE_IS_IT],
  ['ETIMEDOUT', WHERE_IS_IT],
  ['ConnectTimeout', WHERE_IS_IT],
  ['RequestTimeout', WHERE_IS_IT],
  ['ECONNRESET', 'check whether the server takes http or https, and a proxy or firewall in between'],
  ['EPROTO', 'does the server speak TLS there? If not, write http:// in the kubeconfig'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', WHOSE_IS_IT],
  ['SELF_SIGNED_CERT_IN_CHAIN', WHOSE_IS_IT],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', WHOSE_IS_IT],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', WHOSE_IS_IT],
  ['ERR_OSSL_PEM_NO_START_LINE', 'client-certificate and client-key of the user must be PEM'],
  ['CERT_HAS_EXPIRED', 'renew the certificate of the server'],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'its certificate is for other names: correct the address, or tls-server-name, in the kubeconfig',
  ],
]);

/** Behind a proxy all but these are about the way to the proxy: nothing else is connected to. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_OSSL_PEM_NO_START_LINE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const OF_THE_PROXY = 'does the proxy run? If so, correct proxy-url of the cluster in the kubeconfig';
const THROUGH_THE_PROXY =
  'check proxy-url of the cluster in the kubeconfig, and whether the proxy lets you to the server';

/**
 * Advice for a server that cannot be reached, as `: …`; empty if neither the error nor a cause has a code that tells.
 * @param proxy through which it was tried
 */
export function adviceOn(error: unknown, proxy?: string): string {
  const codes = codesOf(error);
  const code = codes.find(each => ADVICE.has(each));
  if (proxy === undefined || (code !== undefined && OF_THE_SERVER.has(code))) {
    return code === undefined ? '' : `: ${ADVICE.get(code)}`;
  }
  const isBroken = codes.some(each => BROKEN.has(each));
  return `: ${isBroken ? THROUGH_THE_PROXY : OF_THE_PROXY}`;
}

/** The connection stood. */
const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPROTO', 'RequestTimeout']);

function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as NodeJS.ErrnoException;
    if (code !== undefined) codes.push(code);
  }
  return codes;
}
