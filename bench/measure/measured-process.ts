/**
 * A `node` process of its own for each thing that is measured: nothing shares its heap, its JIT or its event loop. Parent and child
 * talk over Node's IPC channel, one answer per question.
 */
import { basename } from 'node:path';
import * as z from 'zod';
import { endChild, startChild } from '../../packages/local-aws/src/child-processes.ts';

export interface MeasuredProcess extends AsyncDisposable {
  readonly pid: number | undefined;
  /** Rejects with the child's error, or when the child ends before it has answered. */
  ask<Schema extends z.ZodType>(question: string, schema: Schema, argument?: unknown): Promise<z.output<Schema>>;
  /** Ends it without warning. */
  end(): Promise<void>;
}

export interface ProcessOptions {
  readonly args?: readonly string[];
  /** For node itself: `--max-old-space-size=4096`. */
  readonly nodeFlags?: readonly string[];
  /** Beside the parent's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Hears what it writes to its standard streams. */
  readonly onOutput?: (text: string) => void;
}

const messageSchema = z.union([
  z.object({ id: z.number(), error: z.string() }),
  z.object({ id: z.number(), answer: z.unknown() }),
]);

interface Pending {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** How much of what a child said is kept for the error message when it ends. */
const OUTPUT_LENGTH_MAX = 4000;

/** Starts `script` under this very Node. */
export function startMeasuredProcess(script: string, options: ProcessOptions = {}): MeasuredProcess {
  const { args = [], nodeFlags = [], env = {}, onOutput = () => undefined } = options;
  const child = startChild(process.execPath, [...nodeFlags, script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...env },
  });
  const pending = new Map<number, Pending>();
  let asked = 0;
  let ended: Error | undefined;

  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-OUTPUT_LENGTH_MAX);
      onOutput(text);
    });
  }
  child.on('message', message => {
    const parsed = messageSchema.parse(message);
    const waiting = pending.get(parsed.id);
    pending.delete(parsed.id);
    if ('error' in parsed) waiting?.reject(new Error(`${basename(script)} failed: ${parsed.error}`));
    else waiting?.resolve(parsed.answer);
  });
  const fail = (error: Error): void => {
    ended ??= error;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  child.once('error', fail);
  child.once('exit', (code, signal) =>
    fail(new Error(`${basename(script)} ended (${signal ?? `exit code ${code}`}): ${said.trim()}`)),
  );

  const end = (): Promise<void> => endChild(child);
  return {
    pid: child.pid,
    async ask(question, schema, argument) {
      const answer = await new Promise<unknown>((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        asked += 1;
        pending.set(asked, { resolve, reject });
        child.send({ id: asked, question, argument });
      });
      return schema.parse(answer);
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}

/** Starts a process, asks it one thing and ends it. */
export async function askOnce<Schema extends z.ZodType>(
  script: string,
  question: string,
  schema: Schema,
  options?: ProcessOptions & { readonly argument?: unknown },
): Promise<z.output<Schema>> {
  await using process = startMeasuredProcess(script, options);
  return await process.ask(question, schema, options?.argument);
}
