import { createServer } from 'node:http';
import { queryObjects } from 'node:v8';
import { afterEach, describe, expect, it } from 'vitest';
import type { InvokeOutcome } from '../src/execution-environment.ts';
import { startLambda, type LocalLambda } from '../src/lambda-runtime.ts';
import type { LogLine } from '../src/log-lines.ts';
import { listen } from '../src/loopback.ts';
import { loadAssembly } from '../src/template.ts';
import { writeSampleAssembly } from './sample-assembly.ts';

/** Does what the event says, so that each test shows one behaviour of the environment around it. */
const HANDLER = `
import { writeSync } from 'node:fs';
let invocations = 0;
export const handler = async (event, context) => {
  invocations += 1;
  switch (event.do) {
    case 'describe':
      return {
        invocations,
        pid: process.pid,
        env: process.env,
        arn: context.invokedFunctionArn,
        remaining: context.getRemainingTimeInMillis(),
        functionName: context.functionName,
        memory: context.memoryLimitInMB,
      };
    case 'count':
      return { invocations };
    case 'throw':
      throw new TypeError('no such luck');
    case 'hang':
      return new Promise(() => setInterval(() => {}, 1000));
    case 'exit':
      return process.exit(7);
    case 'log':
      console.info({ decision: 'repair' });
      writeSync(2, 'plain text\\n');
      return null;
    case 'meet': {
      // Both must be at work at once to get an answer.
      const response = await fetch(event.url);
      return { pid: process.pid, text: await response.text() };
    }
  }
};
`;

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

interface Running {
  readonly lambda: LocalLambda;
  readonly lines: LogLine[];
  readonly invoke: (event: unknown) => Promise<InvokeOutcome>;
  /** The answer, parsed. */
  readonly ask: (event: unknown) => Promise<Record<string, unknown>>;
}

function start({ handler = HANDLER, timeoutSeconds = 5, maxConcurrency = 2 } = {}): Running {
  const assembly = writeSampleAssembly({ handler, timeoutSeconds });
  opened.push(() => assembly[Symbol.dispose]());
  const { functions } = loadAssembly(assembly.dir, {
    region: 'us-east-1',
    account: '000000000000',
    sqsEndpoint: 'http://127.0.0.1:1',
    environment: { CLUSTER_ENDPOINT: 'http://cluster' },
  });
  const lines: LogLine[] = [];
  const lambda = startLambda({
    functions,
    environment: () => ({ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'local' }),
    maxConcurrency: () => maxConcurrency,
    onLog: line => lines.push(line),
  });
  opened.push(() => lambda.stop());
  const invoke = (event: unknown) => lambda.invoke(functions[0]?.physicalName ?? '', JSON.stringify(event));
  return {
    lambda,
    lines,
    invoke,
    async ask(event) {
      const outcome = await invoke(event);
      if (outcome.kind !== 'answered') throw new Error(JSON.stringify(outcome));
      return JSON.parse(outcome.payload);
    },
  };
}

describe('local Lambda', () => {
  it('runs the bundle with the environment of the template, and with nothing of the machine', async () => {
    process.env['CURFEW_TEST_LEAK'] = 'x';
    opened.push(() => void delete process.env['CURFEW_TEST_LEAK']);
    const { env, ...context } = await start().ask({ do: 'describe' });
    expect(env).toMatchObject({
      CLUSTER_ENDPOINT: 'http://cluster',
      AWS_REGION: 'us-east-1',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    });
    expect(env).not.toHaveProperty('CURFEW_TEST_LEAK');
    expect(context).toMatchObject({ functionName: 'Sample-Worker', memory: '256' });
    expect(context['arn']).toBe('arn:aws:lambda:us-east-1:000000000000:function:Sample-Worker');
  });

  it('tells the handler how much time is left', async () => {
    const { remaining } = await start({ timeoutSeconds: 60 }).ask({ do: 'describe' });
    expect(remaining).toBeGreaterThan(30_000);
    expect(remaining).toBeLessThanOrEqual(60_000);
  });

  it('keeps nothing of an invocation that is over, however long the process lives', async () => {
    const { ask } = start();
    const invocations = 100;
    const promisesAfter = async (): Promise<number> => {
      for (let index = 0; index < invocations; index += 1) await ask({ do: 'count' });
      return queryObjects(Promise, { format: 'count' });
    };
    const before = await promisesAfter();
    expect((await promisesAfter()) - before).toBeLessThan(invocations);
  });

  it('keeps the process warm', async () => {
    const { ask, lambda } = start();
    const first = await ask({ do: 'describe' });
    const second = await ask({ do: 'describe' });
    expect(second).toMatchObject({ pid: first['pid'], invocations: 2 });
    expect(lambda.pids('worker')).toEqual([first['pid']]);
  });

  it('reports what the handler throws, and goes on in the same process', async () => {
    const { ask, invoke } = start();
    expect(await invoke({ do: 'throw' })).toEqual({
      kind: 'failed',
      error: { errorType: 'TypeError', errorMessage: 'no such luck' },
    });
    expect(await ask({ do: 'describe' })).toMatchObject({ invocations: 2 });
  });

  it('kills a handler at its deadline and starts anew', async () => {
    const { ask, invoke } = start({ timeoutSeconds: 1 });
    expect(await invoke({ do: 'hang' })).toEqual({ kind: 'timedOut' });
    expect(await ask({ do: 'describe' })).toMatchObject({ invocations: 1 });
  });

  it('survives a process that ends by itself', async () => {
    const { ask, invoke } = start();
    expect(await invoke({ do: 'exit' })).toEqual({ kind: 'crashed', how: 'exit status 7' });
    expect(await ask({ do: 'describe' })).toMatchObject({ invocations: 1 });
  });

  it('starts a new process after a kill between two invocations', async () => {
    const { ask, lambda } = start();
    const { pid } = await ask({ do: 'describe' });
    expect(await lambda.kill('worker')).toBe(1);
    expect(lambda.pids('worker')).toEqual([]);
    const after = await ask({ do: 'describe' });
    expect(after).toMatchObject({ invocations: 1 });
    expect(after['pid']).not.toBe(pid);
  });

  it('reports a kill in the middle of an invocation', async () => {
    const { ask, invoke, lambda } = start();
    await ask({ do: 'describe' });
    const hanging = invoke({ do: 'hang' });
    await new Promise(resolve => setImmediate(resolve));
    await lambda.kill('worker');
    expect(await hanging).toEqual({ kind: 'crashed', how: 'signal SIGKILL' });
  });

  it('reports a bundle that cannot be loaded', async () => {
    const { invoke } = start({ handler: "throw new RangeError('at load')" });
    expect(await invoke({})).toEqual({ kind: 'failed', error: { errorType: 'RangeError', errorMessage: 'at load' } });
  });

  it('gives every line of the log, structured where it is', async () => {
    const { ask, lambda, lines } = start();
    await ask({ do: 'log' }).catch(() => {});
    await lambda.stop();
    expect(lines).toContainEqual({ function: 'worker', stream: 'stderr', text: 'plain text' });
    const structured = lines.find(({ text }) => text.includes('repair'));
    expect(structured).toMatchObject({ stream: 'stdout', record: { level: 'INFO', message: { decision: 'repair' } } });
  });

  it('runs invocations side by side, each in a process of its own, up to the limit', async () => {
    const arrived: (() => void)[] = [];
    const server = createServer((_, response) => {
      arrived.push(() => response.end('met'));
      if (arrived.length === 2) for (const answer of arrived.splice(0)) answer();
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    opened.push(() => void server.close());
    const { ask, lambda } = start({ maxConcurrency: 2 });
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask({ do: 'meet', url })));
    expect(answers.map(({ text }) => text)).toEqual(['met', 'met', 'met', 'met']);
    expect(lambda.pids('worker')).toHaveLength(2);
  });

  it('ends its processes when it stops, and starts none after', async () => {
    const { ask, invoke, lambda } = start();
    const { pid } = await ask({ do: 'describe' });
    await lambda.stop();
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
    expect(await invoke({ do: 'describe' })).toEqual({ kind: 'crashed', how: 'the stack is stopped' });
  });

  it('knows its functions by name', async () => {
    const { lambda } = start();
    await expect(lambda.invoke('other', '{}')).rejects.toThrow('there is no function other');
    expect(() => lambda.pids('other')).toThrow('there is no function other');
  });
});
