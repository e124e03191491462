/**
 * Who makes a request, and whether he may. Without `AuthorizationOptions` nobody is checked and everything is allowed: names exist so
 * that traces and field managers are worth reading.
 */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { forbiddenRequest, type RequestAttributes, type UserInfo } from '../authorization/attributes.ts';
import { ALWAYS_ALLOW, MASTERS, type Authorizer } from '../authorization/authorizer.ts';
import { bearerOf, callerOf, userOfToken } from './caller.ts';
import { unauthorized } from './http-errors.ts';

export interface AuthorizationOptions {
  readonly authorizer: Authorizer;
  /** Whose a bearer token is; undefined for one that nobody has. Asked before `user:NAME` is understood. */
  readonly authenticateToken?: (token: string) => UserInfo | undefined;
  /** Who makes a request without credentials. Default: `system:anonymous`. */
  readonly anonymous?: UserInfo;
}

export interface Access {
  readonly authorizer: Authorizer;
  /** Throws `ApiStatusError` 401 for credentials that nobody has, 403 for an impersonation that is not allowed. */
  identify(request: IncomingMessage): UserInfo;
  /** Throws `ApiStatusError` 403. */
  check(user: UserInfo, request: RequestAttributes): void;
  /** Undefined for a token that nobody has. */
  userOfToken(token: string): UserInfo | undefined;
}

const AUTHENTICATED = 'system:authenticated';
const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

const ANYBODY: Access = {
  authorizer: ALWAYS_ALLOW,
  identify: ({ headers }) => ({ name: callerOf(headers), groups: [MASTERS, AUTHENTICATED] }),
  check: () => undefined,
  userOfToken: token => ({ name: userOfToken(token) ?? 'token', groups: [MASTERS, AUTHENTICATED] }),
};

/** 401 for a token that nobody has, 403 in kube-apiserver's words for what the authorizer refuses. */
export function createAccess(options: AuthorizationOptions | undefined): Access {
  if (options === undefined) return ANYBODY;
  const { authorizer, authenticateToken, anonymous = ANONYMOUS } = options;

  const ofToken = (token: string): UserInfo | undefined => {
    const known = authenticateToken?.(token) ?? namedUser(userOfToken(token));
    return known && authenticated(known);
  };
  const check = (user: UserInfo, request: RequestAttributes): void => {
    const { allowed, reason } = authorizer.authorize(user, request);
    if (!allowed) throw forbiddenRequest(user.name, request, reason);
  };
  const withCredentials = (request: IncomingMessage): UserInfo => {
    const token = bearerOf(request.headers);
    if (token === undefined) return userOfCertificate(request) ?? anonymous;
    const user = ofToken(token);
    if (user === undefined) throw unauthorized();
    return user;
  };
  return {
    authorizer,
    check,
    userOfToken: ofToken,
    identify(request) {
      const user = withCredentials(request);
      const impersonated = impersonatedBy(request);
      if (impersonated === undefined) return user;
      for (const asked of impersonations(impersonated)) check(user, asked);
      return authenticated(impersonated);
    },
  };
}

const ADMIN = 'admin';
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** `admin`, whom the kubeconfig names, is a master; a service account is in the groups of all and of its namespace. */
function namedUser(name: string | undefined): UserInfo | undefined {
  return name === undefined ? undefined : { name, groups: name === ADMIN ? [MASTERS] : groupsOfAccount(name) };
}

function groupsOfAccount(name: string): readonly string[] {
  const namespace = SERVICE_ACCOUNT.exec(name)?.[1];
  return namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

function authenticated({ name, groups }: UserInfo): UserInfo {
  if (name === ANONYMOUS.name || groups.includes(AUTHENTICATED)) return { name, groups };
  return { name, groups: [...groups, AUTHENTICATED] };
}

/** The common name and the organizations of a client certificate that the server's authority signed. */
function userOfCertificate({ socket }: IncomingMessage): UserInfo | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { CN: name, O: groups = [] } = socket.getPeerCertificate().subject ?? {};
  if (typeof name !== 'string') return undefined;
  return authenticated({ name, groups: [groups].flat() });
}

function impersonatedBy(request: IncomingMessage): UserInfo | undefined {
  // Distinct headers are made of all that came, for each request that asks.
  if (request.headers['impersonate-user'] === undefined) return undefined;
  const { headersDistinct } = request;
  const name = headersDistinct['impersonate-user']?.[0];
  if (name === undefined || name === '') return undefined;
  return { name, groups: headersDistinct['impersonate-group'] ?? groupsOfAccount(name) };
}

/** What somebody must be allowed to do in order to be that user. */
function impersonations({ name, groups }: UserInfo): readonly RequestAttributes[] {
  const account = SERVICE_ACCOUNT.exec(name);
  const verb = 'impersonate';
  const who: RequestAttributes =
    account === null
      ? { verb, group: '', resource: 'users', name }
      : { verb, group: '', resource: 'serviceaccounts', namespace: account[1] ?? '', name: account[2] ?? '' };
  const implied = groupsOfAccount(name);
  const asked = groups.filter(group => !implied.includes(group));
  return [who, ...asked.map(group => ({ verb, group: '', resource: 'groups', name: group }))];
}
