/**
 * One execution environment of a function: the synthesized bundle in a process of its own under AWS's runtime client, one invocation at a time.
 * At the deadline the process is killed, as Lambda ends it.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { endChild, startChild } from './child-processes.ts';
import { readLogLines, type LogLine } from './log-lines.ts';
import type { FunctionModel } from './model.ts';
import { startRuntimeApi, type ReportedError } from './runtime-api.ts';

/** Lambda gives a function this long to load. */
const INIT_TIMEOUT_MS = 10_000;
/** Leaves room for what is not JavaScript heap. */
const HEAP_SHARE_OF_MEMORY = 0.9;

/** For `node`: the heap of a function that has so much memory. */
export const heapFlag = (memoryMiB: number): string =>
  `--max-old-space-size=${Math.floor(memoryMiB * HEAP_SHARE_OF_MEMORY)}`;

export type InvokeOutcome =
  | { readonly kind: 'answered'; readonly payload: string }
  /** The handler threw, or the bundle could not be loaded. */
  | { readonly kind: 'failed'; readonly error: ReportedError }
  | { readonly kind: 'timedOut' }
  /** The process ended in the middle, by itself or killed. */
  | { readonly kind: 'crashed'; readonly how: string };

export interface EnvironmentOptions {
  readonly fn: FunctionModel;
  /** Region, credentials and endpoints; the variables of the function come on top. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLog: (line: LogLine) => void;
}

export interface ExecutionEnvironment {
  readonly pid: number | undefined;
  /** Whether it can take another invocation once this one is over. */
  readonly alive: boolean;
  /** Resolves when the environment is idle again or gone. One at a time. */
  invoke(payload: string): Promise<InvokeOutcome>;
  /** `kill -9`; resolves once it is gone. */
  kill(): Promise<void>;
}

/** Resolves once the process runs; that it cannot load its bundle shows in the first `invoke`. */
export async function startEnvironment(options: EnvironmentOptions): Promise<ExecutionEnvironment> {
  const { fn, onLog } = options;
  let alive = true;
  let initError: ReportedError | undefined;
  /** Of the invocation at work: set by the answer, given out when the runtime is idle again. */
  let outcome: InvokeOutcome | undefined;
  /** The runtime waits, or its process is gone. Another one for each invocation: who waits on `gone` is kept until then. */
  let idle = Promise.withResolvers<'done' | 'gone'>();

  const api = await startRuntimeApi({
    onIdle: () => idle.resolve('done'),
    onAnswer: (_, payload) => (outcome = { kind: 'answered', payload }),
    onError: (_, error) => (outcome = { kind: 'failed', error }),
    onInitError: error => (initError = error),
  });
  const child = startRuntime(options, api.address);
  for (const stream of ['stdout', 'stderr'] as const) {
    // Where it could not be started, as with too many open files, it has no streams.
    const input: (typeof child)[typeof stream] | undefined = child[stream];
    if (input) readLogLines(input, { function: fn.name, stream }, onLog);
  }
  const gone = new Promise<string>(resolve => {
    child.once('exit', (code, signal) => resolve(signal === null ? `exit status ${code}` : `signal ${signal}`));
    child.once('error', error => resolve(error.message));
  });
  void gone.then(() => {
    alive = false;
    idle.resolve('gone');
    return api.stop();
  });

  async function invoke(payload: string): Promise<InvokeOutcome> {
    const initialized = await idleWithin(INIT_TIMEOUT_MS);
    if (initialized === 'late') await endChild(child);
    if (!alive || initialized !== 'done') return initFailure();
    idle = Promise.withResolvers();
    outcome = undefined;
    const timeoutMs = fn.timeoutSeconds * 1000;
    api.deliver({ requestId: randomUUID(), payload, deadlineMs: Date.now() + timeoutMs, functionArn: fn.arn });
    const ended = await idleWithin(timeoutMs);
    if (ended === 'late') {
      await endChild(child);
      return outcome ?? { kind: 'timedOut' };
    }
    return outcome ?? { kind: 'crashed', how: await gone };
  }

  async function initFailure(): Promise<InvokeOutcome> {
    const how = await gone;
    return initError === undefined
      ? { kind: 'crashed', how: `while starting: ${how}` }
      : { kind: 'failed', error: initError };
  }

  async function idleWithin(milliseconds: number): Promise<'done' | 'gone' | 'late'> {
    const late = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => late.resolve('late'), milliseconds);
    try {
      return await Promise.race([idle.promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    pid: child.pid,
    get alive() {
      return alive;
    },
    invoke,
    kill: () => endChild(child),
  };
}

const RIC = join(dirname(createRequire(import.meta.url).resolve('aws-lambda-ric/package.json')), 'index.mjs');
const SHIM = join(import.meta.dirname, 'ric-shim.cjs');

function startRuntime({ fn, environment }: EnvironmentOptions, runtimeApi: string): ChildProcess {
  return startChild(process.execPath, [heapFlag(fn.memoryMiB), '--require', SHIM, RIC], {
    cwd: fn.taskRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of our own environment: a function that works here must not owe it to the machine.
    env: {
      TZ: ':UTC',
      LANG: 'en_US.UTF-8',
      ...environment,
      ...fn.environment,
      // There is one local endpoint of each service, and the SDK refuses these beside it.
      AWS_USE_FIPS_ENDPOINT: 'false',
      AWS_USE_DUALSTACK_ENDPOINT: 'false',
      AWS_EXECUTION_ENV: `AWS_Lambda_${fn.runtime}`,
      AWS_LAMBDA_FUNCTION_NAME: fn.physicalName,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memoryMiB),
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_FORMAT: fn.logFormat,
      AWS_LAMBDA_LOG_GROUP_NAME: fn.logGroup,
      AWS_LAMBDA_LOG_STREAM_NAME: 'local',
      AWS_LAMBDA_RUNTIME_API: runtimeApi,
      LAMBDA_TASK_ROOT: fn.taskRoot,
      _HANDLER: fn.handler,
    },
  });
}
