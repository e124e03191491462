/** A change that the API server refuses, as admission policies can: often as long as somebody wants it so. */
import { minutes } from '../domain/time.ts';

/** It is tried again after this long (I5, I8). */
export const REFUSED_CHECK = minutes(5);
