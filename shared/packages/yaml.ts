import type * as Package from 'yaml';
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** `yaml`, loaded when the first template has been rendered (ADR 0025). */
export const yaml = (): typeof Package => load('yaml');
