/** Watch events that are kept per resource unless the server is told otherwise. */
export const DEFAULT_WATCH_HISTORY = 1000;
