/** `resourceVersion` and `resourceVersionMatch` of lists and watches, for a store that keeps only the current state. */
import { badRequest, expired, serverRefused } from '../status-errors.ts';
import { versionNotReached } from './http-errors.ts';
import { forbiddenOption, unsupportedOption } from './option-errors.ts';

function matchOf(query: URLSearchParams): string {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match === '' || match === 'Exact' || match === 'NotOlderThan') return match;
  throw unsupportedOption('ListOptions', 'resourceVersionMatch', JSON.stringify(match), ['Exact', 'NotOlderThan', '']);
}

function forbidMatch(why: string): Error {
  return forbiddenOption('ListOptions', 'resourceVersionMatch', why);
}

/**
 * Checks that the current state answers a list. "At least as new as" a version that exists always holds; an exact version is
 * served while it is the current one, and is 410 afterwards (as if compacted). Throws 400, 410, 422 or 504.
 */
export function checkListVersion(query: URLSearchParams, current: string): void {
  const asked = query.get('resourceVersion') ?? '';
  const match = matchOf(query);
  if (query.has('sendInitialEvents')) {
    throw forbiddenOption('ListOptions', 'sendInitialEvents', 'sendInitialEvents is forbidden for list');
  }
  if (match !== '' && asked === '') {
    throw forbidMatch('resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (match === 'Exact' && asked === '0') {
    throw forbidMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (asked === '') return;
  if (!/^\d+$/.test(asked)) {
    const reason = `strconv.ParseUint: parsing "${asked}": invalid syntax`;
    throw badRequest(`invalid resource version: resourceVersion: Invalid value: "${asked}": ${reason}`);
  }
  if (query.get('continue') && asked !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (BigInt(asked) > BigInt(current)) throw versionNotReached(asked, current);
  if (match === 'Exact' && asked !== current) {
    throw expired('The resourceVersion for the provided list is too old.');
  }
}

/** Checks that the current state answers the read of an object. Throws 500 (as kube-apiserver does) or 504. */
export function checkObjectVersion(query: URLSearchParams, current: string): void {
  const asked = query.get('resourceVersion') ?? '';
  if (asked === '') return;
  if (!/^\d+$/.test(asked)) {
    const reason = `strconv.ParseUint: parsing "${asked}": invalid syntax`;
    throw serverRefused(`resourceVersion: Invalid value: "${asked}": ${reason}`);
  }
  if (BigInt(asked) > BigInt(current)) throw versionNotReached(asked, current);
}

/** Checks what a watch says about versions. Throws 422. */
export function checkWatchVersion(query: URLSearchParams): void {
  const match = matchOf(query);
  if (query.has('sendInitialEvents')) {
    if (match !== 'NotOlderThan') {
      throw forbidMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    }
  } else if (match !== '') {
    throw forbidMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  }
}
