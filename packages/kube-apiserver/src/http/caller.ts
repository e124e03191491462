/** What a request says about who makes it. */
import type { IncomingHttpHeaders } from 'node:http';

function first(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header : header?.[0];
  return text === undefined || text === '' ? undefined : text;
}

/** The user that a bearer token names: `user:NAME`. Undefined for any other token, an EKS one for example. */
export function userOfToken(token: string): string | undefined {
  return token.startsWith('user:') && token.length > 'user:'.length ? token.slice('user:'.length) : undefined;
}

/** The program in a `User-Agent`: what stands before the first slash or space. */
export function programOf(headers: IncomingHttpHeaders): string | undefined {
  return first(headers['user-agent']?.split(/[/\s]/, 1));
}

/** The bearer token of a request. */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Impersonation, else a proxy's `X-Remote-User`, else a `user:NAME` token, else the program, else `anonymous`. */
export function callerOf(headers: IncomingHttpHeaders): string {
  const bearer = bearerOf(headers);
  return (
    first(headers['impersonate-user']) ??
    first(headers['x-remote-user']) ??
    (bearer === undefined ? undefined : userOfToken(bearer)) ??
    programOf(headers) ??
    'system:anonymous'
  );
}
