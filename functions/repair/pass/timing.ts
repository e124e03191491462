/** How far apart passes are, and what becomes of the timer of a pool's record. */
import { seconds } from '../../../shared/domain/time.ts';
import { DONE, type Turn } from '../../../shared/lifecycle/settle.ts';

/** Passes of one pool are this far apart. */
export const PASS_SPACING = seconds(1);
/** A pass that dies is made up for after this long. */
export const PASS_SETTLES_AFTER = seconds(60);

/** A timer that is put off is no reason to look again here: a run that relies on it wrote the record, and the write is lost. */
export const written = (saved: Turn & { readonly written: boolean }): Turn => (saved.written ? DONE : saved);
