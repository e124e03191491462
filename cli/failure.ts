/** Turns any error into one line that tells the user what to do, and an exit code. It never prints a stack trace. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { messageOf, RetryableError, TerminalError } from '../shared/errors.ts';
import type { CommandOutput } from './command-output.ts';
import { describeMissingPackage } from './missing-package.ts';
import { UsageError } from './usage-error.ts';

export interface Failure {
  /** 2: the user can put it right. 1: a bug, or a part that failed. */
  readonly exitCode: 1 | 2;
  readonly message: string;
}

/** Longest text of a failure: what a parser or a server says of its input can be the whole input. */
const MAX_CHARS = 1000;

/** Says it on the command's output; answers the exit code. */
export function reportFailure(error: unknown, output: CommandOutput): Failure['exitCode'] {
  const { exitCode, message } = describeFailure(error);
  output.error(`${message}\n`);
  return exitCode;
}

/** Runs a command: what it throws is said on its output, and becomes its exit code. */
export async function reportingFailure(output: CommandOutput, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    return reportFailure(error, output);
  }
}

/**
 * Errors of the user, of the system and of the API server are put right by the user (2); anything else is a bug (1).
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { exitCode: 2, message: error.message };
  const reason = describeSystemError(error) ?? describeMissingPackage(messageOf(error));
  if (reason !== undefined) return { exitCode: 2, message: reason };
  const message = oneLine(error);
  if (error instanceof RetryableError && error.reason === 'Forbidden') {
    return { exitCode: 2, message: `${message}: have this granted to your user, or choose another one by --context` };
  }
  if (error instanceof RetryableError || error instanceof TerminalError) return { exitCode: 2, message };
  return { exitCode: 1, message };
}

function oneLine(error: unknown): string {
  const text = messageOf(error).trim();
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)} …` : text;
}

/** An error of the operating system in words that say what to do; undefined for any other. Looks at causes, too. */
export function describeSystemError(error: unknown): string | undefined {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const { code, path, port } = each as NodeJS.ErrnoException & { readonly port?: number };
    const described = code === undefined ? undefined : describeCode(code, path ?? 'the file', port);
    if (described !== undefined) return described;
  }
  return undefined;
}

function describeCode(code: string, path: string, port: number | undefined): string | undefined {
  switch (code) {
    case 'ENOENT':
      return `${path} does not exist${whereNpmLooks(path)}`;
    case 'ENOTDIR':
      return `${path}: a part of the path is a file, not a folder`;
    case 'EISDIR':
      return `${path} is a folder; give a file`;
    case 'EACCES':
      return port === undefined
        ? `${path}: permission denied`
        : `port ${port} may not be used by this user: choose one above 1023`;
    case 'ELOOP':
      return `${path}: the links lead to one another; give a file`;
    case 'ENXIO':
      return `${path} is a socket or a device; give a file`;
    case 'EIO':
      return `${path} cannot be read: input/output error`;
    case 'EPERM':
      return `${path}: not permitted`;
    case 'EROFS':
      return `${path} is on a read-only file system`;
    case 'ENOSPC':
      return `${path}: no space left on the device`;
    case 'EMFILE':
    case 'ENFILE':
      return 'too many open files: raise the limit, for example with `ulimit -n 1024`';
    case 'EADDRINUSE':
      return `port ${port ?? ''} is in use: choose another one with --port, or end what listens there`;
    default:
      return undefined;
  }
}

/** npm runs its scripts in the folder of package.json, wherever it was called from. Of a path that is missing there it says so. */
export function whereNpmLooks(path: string, env: NodeJS.ProcessEnv = process.env): string {
  const called = env['INIT_CWD'];
  if (env['npm_lifecycle_event'] === undefined || called === undefined || called === process.cwd()) return '';
  if (isAbsolute(path) || !existsSync(join(called, path))) return '';
  return ` in ${process.cwd()}, where npm runs its scripts: give ${join(called, path)}, or use npx curfew`;
}
