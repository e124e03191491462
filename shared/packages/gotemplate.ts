import type * as Package from '../../packages/gotemplate/src/index.ts';
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** `@curfew/gotemplate`, loaded by the first template (ADR 0025). */
export const gotemplate = (): typeof Package => load('@curfew/gotemplate');
