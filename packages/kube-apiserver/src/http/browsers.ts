/**
 * Keeps web pages out. The server is for the programs of this machine, and who sends no credentials may do everything; but any page in a
 * browser of this machine can send here as well. A page is known by its `Origin`, or, where the name of its own host was made to lead here
 * (DNS rebinding), by the `Host` that it asks for.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { fromElsewhere } from './http-errors.ts';

/** As in a URL. A whole text: `localhost.example.com` is somebody else. */
const THIS_MACHINE = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/** Throws `ApiStatusError` 403 for a request of a page that is not of this machine. kubectl and client libraries send no `Origin`. */
export function refusePages({ origin, host }: IncomingHttpHeaders): void {
  if (origin !== undefined && !THIS_MACHINE.test(origin.replace(/^https?:\/\//i, '')))
    throw fromElsewhere('Origin', origin);
  if (host !== undefined && !THIS_MACHINE.test(host)) throw fromElsewhere('Host', host);
}
