/** What a page is made of. */
import type { TraceLine } from './trace/lines.ts';

export interface PageData {
  readonly lines: readonly TraceLine[];
  /** What is to be said of how they were read: lines of others that were left out. */
  readonly notices: readonly string[];
  /** A second run, to be shown beside the first. */
  readonly other?: readonly TraceLine[];
  /** Names of the two runs. */
  readonly runs?: readonly [string, string];
}
