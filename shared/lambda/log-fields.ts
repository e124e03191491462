/**
 * Fields of every log line that is written while a message is at work: which message, in which invocation. Runs at the
 * same time have their own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export type LogFields = Readonly<Record<string, string>>;

const storage = new AsyncLocalStorage<LogFields>();

/** Runs `work`; lines that it writes, now or later, have these fields. */
export const withLogFields = <Result>(fields: LogFields, work: () => Result): Result => storage.run(fields, work);

/** The fields of the message at work; none between messages. */
export const logFields = (): LogFields => storage.getStore() ?? NONE;

const NONE: LogFields = {};
