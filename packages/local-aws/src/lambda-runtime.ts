/**
 * Lambda on one machine: execution environments are started when there is work and none is free, stay warm, and are replaced after a crash. At
 * most `maxConcurrency` of a function work at once; more wait.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startEnvironment, type ExecutionEnvironment, type InvokeOutcome } from './execution-environment.ts';
import type { LogLine } from './log-lines.ts';
import type { FunctionModel } from './model.ts';

export interface LambdaOptions {
  readonly functions: readonly FunctionModel[];
  /** Region, credentials and endpoints. */
  readonly environment: (fn: FunctionModel) => Readonly<Record<string, string>>;
  readonly maxConcurrency: (physicalName: string) => number;
  readonly onLog: (line: LogLine) => void;
}

export interface LocalLambda {
  /** Never throws for what the function does. Throws when there is no such function. */
  invoke(physicalName: string, payload: string): Promise<InvokeOutcome>;
  /** `kill -9` of all processes of a function, by its name (`repair`); the next invocation starts a new one. Answers how many there were. */
  kill(functionName: string): Promise<number>;
  /** Process ids of a function. */
  pids(functionName: string): number[];
  stop(): Promise<void>;
}

/** Throws when a bundle is not there. */
export function startLambda(options: LambdaOptions): LocalLambda {
  const pools = options.functions.map(fn => createPool(fn, options));

  function poolOf(test: (fn: FunctionModel) => boolean, what: string) {
    const pool = pools.find(({ fn }) => test(fn));
    if (pool === undefined) throw new Error(`there is no function ${what}`);
    return pool;
  }

  return {
    invoke: async (physicalName, payload) =>
      poolOf(fn => fn.physicalName === physicalName, physicalName).invoke(payload),
    kill: async functionName => poolOf(({ name }) => name === functionName, functionName).kill(),
    pids: functionName => poolOf(({ name }) => name === functionName, functionName).pids(),
    async stop() {
      await Promise.all(pools.map(pool => pool.stop()));
    },
  };
}

function createPool(fn: FunctionModel, { environment, maxConcurrency, onLog }: LambdaOptions) {
  const file = fn.handler.replace(/\.[^.]*$/, '');
  if (!['mjs', 'js', 'cjs'].some(extension => existsSync(join(fn.taskRoot, `${file}.${extension}`)))) {
    throw new Error(`function ${fn.name} has no bundle in ${fn.taskRoot}: synthesize the app with bundling`);
  }
  const limit = maxConcurrency(fn.physicalName);
  const environments = new Set<ExecutionEnvironment>();
  const idle: ExecutionEnvironment[] = [];
  const waiting: (() => void)[] = [];
  let working = 0;
  let stopped = false;

  async function invoke(payload: string): Promise<InvokeOutcome> {
    if (working >= limit) await new Promise<void>(resolve => waiting.push(resolve));
    working += 1;
    try {
      return await run(payload);
    } finally {
      working -= 1;
      waiting.shift()?.();
    }
  }

  async function run(payload: string): Promise<InvokeOutcome> {
    if (stopped) return { kind: 'crashed', how: 'the stack is stopped' };
    const environmentAtWork = takeIdle() ?? (await start());
    const outcome = await environmentAtWork.invoke(payload);
    if (environmentAtWork.alive) idle.push(environmentAtWork);
    else environments.delete(environmentAtWork);
    return outcome;
  }

  /** The environment that worked last; dead ones are forgotten on the way. */
  function takeIdle(): ExecutionEnvironment | undefined {
    for (let candidate = idle.pop(); candidate !== undefined; candidate = idle.pop()) {
      if (candidate.alive) return candidate;
      environments.delete(candidate);
    }
    return undefined;
  }

  async function start(): Promise<ExecutionEnvironment> {
    const started = await startEnvironment({ fn, environment: environment(fn), onLog });
    environments.add(started);
    return started;
  }

  async function kill(): Promise<number> {
    const alive = [...environments].filter(candidate => candidate.alive);
    await Promise.all(alive.map(candidate => candidate.kill()));
    return alive.length;
  }

  return {
    fn,
    invoke,
    kill,
    pids: () => [...environments].flatMap(({ alive, pid }) => (alive && pid !== undefined ? [pid] : [])),
    async stop() {
      stopped = true;
      await kill();
    },
  };
}
