/**
 * zod in its small edition, for all that the functions' bundles carry: the full one, whose schemas have a method for everything,
 * makes up a third of a function's start. Its messages are those of the full edition, which users read.
 */
import { config } from 'zod/mini';
import en from 'zod/v4/locales/en.js';

config(en());

export * from 'zod/mini';
