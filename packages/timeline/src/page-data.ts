/** What a page is made of. */
import type { TraceLine } from './trace/lines.ts';

export interface PageData {
  readonly lines: readonly TraceLine[];
  /** What is to be said of how they were read: lines of others that were left out. */
  readonly notices: readonly string[];
  /** Two runs side by side: what differs, in words. */
  readonly differences?: readonly { readonly title: string; readonly a: string; readonly b: string }[];
  /** Names of the two runs. */
  readonly runs?: readonly [string, string];
}
