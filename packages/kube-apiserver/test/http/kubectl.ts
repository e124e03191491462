/** Runs the real kubectl against a served core. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The kubectl on PATH, or undefined. */
export function findKubectl(path: string | undefined = process.env.PATH): string | undefined {
  return (path ?? '')
    .split(delimiter)
    .map(folder => join(folder, 'kubectl'))
    .find(file => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

export interface Result {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Kubectl {
  /** Runs a command; `input` goes to its standard input. */
  run(args: readonly string[], input?: unknown): Promise<Result>;
  /** Standard output of a command that must succeed. */
  ok(args: readonly string[], input?: unknown): Promise<string>;
  /** A command that goes on: its standard output line by line, until it is stopped. */
  start(args: readonly string[]): { lines: AsyncIterator<string>; stop(): Promise<void> };
  dispose(): Promise<void>;
}

async function* linesOf(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
}

/** `binary` with its own home folder, so that no cache of another server is used. */
export async function kubectlFor(binary: string, kubeconfig: string): Promise<Kubectl> {
  const home = await mkdtemp(join(tmpdir(), 'curfew-kubectl-'));
  const file = join(home, 'kubeconfig');
  await writeFile(file, kubeconfig);
  const env = { ...process.env, HOME: home, KUBECONFIG: file, KUBECACHEDIR: join(home, 'cache') };
  const run = async (args: readonly string[], input?: unknown): Promise<Result> =>
    await new Promise((resolve, reject) => {
      const child = spawn(binary, args, { env });
      let out = '';
      let err = '';
      child.stdout.on('data', chunk => (out += String(chunk)));
      child.stderr.on('data', chunk => (err += String(chunk)));
      child.on('error', reject);
      child.on('close', code => resolve({ code, out, err }));
      child.stdin.end(input === undefined ? '' : typeof input === 'string' ? input : JSON.stringify(input));
    });
  return {
    run,
    async ok(args, input) {
      const { code, out, err } = await run(args, input);
      if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${err}${out}`);
      return out;
    },
    start(args) {
      const child = spawn(binary, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = new Promise<void>(resolve => child.on('close', () => resolve()));
      return {
        lines: linesOf(child.stdout),
        async stop() {
          child.kill();
          await closed;
        },
      };
    },
    async dispose() {
      await rm(home, { recursive: true, force: true });
    },
  };
}
