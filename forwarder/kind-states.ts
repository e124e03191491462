/** How the watch of a custom kind stands, in the words that its owner's status shows. */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';

export type KindState = Pick<KindWatch, 'state' | 'message' | 'resource'>;

export function stateOfError(error: unknown): KindState {
  const forbidden = error instanceof RetryableError && error.reason === 'Forbidden';
  return { state: forbidden ? 'Forbidden' : 'Failing', message: messageOf(error) };
}
