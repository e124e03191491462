import type { ListNode } from '../parse/nodes.ts';
import type { Bytes } from '../text/bytes.ts';

/** What a missing map key gives: `<no value>`, the zero value of the map's elements, or an error. */
export type MissingKey = 'default' | 'zero' | 'error';

/** A template that can be executed. */
export interface Definition {
  readonly name: Bytes;
  readonly root: ListNode;
}
