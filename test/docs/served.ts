/** `npm start -- --serve`, and a folder as a clone of the repository, in which the shell blocks of a guide run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { blocks, ROOT } from './documents.ts';
import { documentOf } from './observability.ts';

const CURFEW = join(ROOT, 'cli', 'curfew.ts');

export interface Served {
  /** Address of the live page. */
  readonly page: string;
  /** Runs a block with the two variables that the stack prints. @returns also what the stack printed meanwhile */
  run(block: string): Promise<{ readonly code: number | null; readonly output: string; readonly narrated: string }>;
  stop(): Promise<void>;
}

/** The shell blocks of a guide, from top to bottom. */
export const shellBlocksOf = (file: string): readonly { readonly file: string; readonly text: string }[] =>
  blocks(documentOf(file))
    .filter(({ language }) => language === 'sh')
    .map(({ lines }) => ({ file, text: lines.join('\n').trim() }));

/** Resolves once the stack says how it is ended. */
export async function serve(): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-guides-'));
  // A clone of the repository, into which a guide may write.
  for (const entry of readdirSync(ROOT)) symlinkSync(join(ROOT, entry), join(folder, entry));
  const stack = spawn(process.execPath, [CURFEW, 'start', '--serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let soFar = '';
  const printed = await new Promise<string>((resolve, reject) => {
    stack.stdout.on('data', (chunk: Buffer) => {
      soFar += chunk.toString();
      if (soFar.includes('Ctrl-C')) resolve(soFar);
    });
    stack.once('exit', code => reject(new Error(`ended with ${code}: ${soFar}`)));
  });
  const find = (pattern: RegExp): string => pattern.exec(printed)?.[1] ?? '';
  const kubeconfig = find(/export KUBECONFIG=(\S+)/);
  mkdirSync(join(folder, '.kube'));
  symlinkSync(kubeconfig, join(folder, '.kube', 'config'));
  const env = {
    ...process.env,
    HOME: folder,
    TMPDIR: folder,
    KUBECONFIG: kubeconfig,
    AWS_CONFIG_FILE: find(/export AWS_CONFIG_FILE=(\S+)/),
  };
  return {
    page: find(/(http:\S+) shows what happens, live/),
    async run(block) {
      // Without the seconds that npx takes.
      const script = block.replaceAll(/\bnpx curfew /g, `${process.execPath} ${CURFEW} `);
      const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const before = soFar.length;
      const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      return { code: child.exitCode, output: out + error, narrated: soFar.slice(before) };
    },
    async stop() {
      const ended = once(stack, 'exit');
      stack.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
