/** Structured log: fields first, then a constant message, as pino has it. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const SILENT_LOG: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
