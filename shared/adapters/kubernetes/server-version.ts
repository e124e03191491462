/** Reads the release of an API server, and warns of one on which Curfew is not tested. */
import { isJsonObject, readJson } from '../../domain/json.ts';
import type { Transport } from './transport.ts';

/** The oldest release that the tests run on, as `kubeVersion` of the chart: 1.30. */
const OLDEST_MINOR = 30;

/** The release in an answer to `/version`, as `v1.36.3`; undefined for what is no such answer. */
export function versionIn(body: string): string | undefined {
  const version = readJson(body);
  const gitVersion = isJsonObject(version) ? version['gitVersion'] : undefined;
  return typeof gitVersion === 'string' ? gitVersion : undefined;
}

/** Undefined where the API server does not say it. Throws as a request does. */
export async function serverVersion(transport: Transport): Promise<string | undefined> {
  const answer = await transport.request({ method: 'GET', path: '/version', doing: 'asking for the version' });
  return answer.status === 200 ? versionIn(answer.body) : undefined;
}

/** 36 of `v1.36.3`; undefined for what is no version of Kubernetes 1. */
export function minorVersionOf(version: string): number | undefined {
  const minor = /^v?1\.(\d+)/.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** The warning about a release of Kubernetes that Curfew is not made for. */
export function warningOn(version: string): string | undefined {
  const minor = minorVersionOf(version);
  if (minor === undefined || minor >= OLDEST_MINOR) return undefined;
  return `The cluster runs Kubernetes ${version}: Curfew needs 1.${OLDEST_MINOR} or newer and is not tested on older releases.`;
}
