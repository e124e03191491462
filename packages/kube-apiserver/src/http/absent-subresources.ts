/** Subresources that kube-apiserver serves and this server does not: the refusal says why, for kubectl prints it to its user. */
import { notServed } from '../status-errors.ts';
import type { ApiStatusError, ResourceInfo } from '../types.ts';
import { notImplemented } from './http-errors.ts';

const NO_CONTAINER = 'no container runs in the embedded API server';
const PODS: Readonly<Record<string, string>> = {
  log: `${NO_CONTAINER}: there are no logs`,
  exec: `${NO_CONTAINER}: there is nothing to execute in`,
  attach: `${NO_CONTAINER}: there is nothing to attach to`,
  portforward: `${NO_CONTAINER}: no port listens`,
  proxy: `${NO_CONTAINER}: no port listens`,
  ephemeralcontainers: NO_CONTAINER,
};
const SCALED = new Set(['deployments', 'statefulsets', 'replicasets', 'replicationcontrollers']);

interface AskedFor {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly subresource: string;
}

/** 501 with the reason for a subresource that kube-apiserver has, 404 for any other. */
export function absentSubresource(
  { resource, schema }: ResourceInfo,
  { namespace, name, subresource }: AskedFor,
): ApiStatusError {
  if (schema !== undefined) return notServed();
  if (resource === 'serviceaccounts' && subresource === 'token') {
    const user = `system:serviceaccount:${namespace ?? ''}:${name}`;
    return notImplemented(`the embedded API server issues no tokens: act as one with --as=${user}`);
  }
  const why = resource === 'pods' ? PODS[subresource] : undefined;
  if (why !== undefined) return notImplemented(why);
  if (subresource === 'scale' && SCALED.has(resource))
    return notImplemented(`the embedded API server has no ${resource}/scale: patch spec.replicas`);
  return notServed();
}
