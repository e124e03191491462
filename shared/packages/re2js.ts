import type * as Package from 're2js';
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** `re2js`, loaded by the first regular expression (ADR 0025). */
export const re2js = (): typeof Package => load('re2js');
