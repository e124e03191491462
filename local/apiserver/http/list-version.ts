/** `resourceVersion` and `resourceVersionMatch` of a list, for a store that keeps only the current state. */
import { badRequest, expired } from '../status-errors.ts';
import { versionNotReached } from './http-errors.ts';

function invalid(message: string): Error {
  return badRequest(`ListOptions.meta.k8s.io "" is invalid: ${message}`);
}

/**
 * Checks that the current state answers the question. "At least as new as" a version that exists always holds; an exact
 * version is served while it is the current one, and is 410 afterwards (as if compacted). Throws 400, 410 or 504.
 */
export function checkListVersion(query: URLSearchParams, current: string): void {
  const asked = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw invalid(`resourceVersionMatch: Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`);
  }
  if (match !== '' && asked === '') {
    throw invalid(
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    );
  }
  if (match === 'Exact' && asked === '0') {
    throw invalid('resourceVersionMatch: Forbidden: resourceVersionMatch "Exact" is forbidden for resourceVersion "0"');
  }
  if (asked === '') return;
  if (!/^\d+$/.test(asked)) throw badRequest(`Invalid value: "${asked}": the resource version must be a number`);
  if (query.get('continue') && asked !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (BigInt(asked) > BigInt(current)) throw versionNotReached(asked, current);
  if (match === 'Exact' && asked !== current) {
    throw expired('The resourceVersion for the provided list is too old.');
  }
}
