/**
 * The guides, from top to bottom, as a reader copies them: every block of the shell on one `npm start -- --serve`, in the order in which a
 * new reader comes to them. A guide ends each step with a `kubectl wait`, so a block that exits with 0 has shown what it promises.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKubectl } from '../../packages/kube-apiserver/test/http/kubectl.ts';
import { blocks, GUIDES_ON_SERVE, ROOT } from './documents.ts';
import { documentOf } from './observability.ts';
import { isRunOnServe } from './not-run.ts';

const CURFEW = join(ROOT, 'cli', 'curfew.ts');

/** What a block runs: without comments, and `npx curfew` without the seconds that npx takes. */
const shellBlocks = GUIDES_ON_SERVE.flatMap(file =>
  blocks(documentOf(file))
    .filter(({ language }) => language === 'sh')
    .map(({ lines }) => ({ file, text: lines.join('\n').trim() })),
);
const runs = ({ text: block }: { readonly text: string }): boolean =>
  block.split('\n').every(line => isRunOnServe(line.trim()));

describe.skipIf(findKubectl() === undefined)('the guides on `npm start -- --serve`', () => {
  let folder: string;
  let stack: ChildProcess;
  let kubeconfig: string;
  let awsConfig = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-guides-'));
    // A clone of the repository, into which a guide may write.
    for (const entry of readdirSync(ROOT)) symlinkSync(join(ROOT, entry), join(folder, entry));
    stack = spawn(process.execPath, [CURFEW, 'start', '--serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
    kubeconfig = await new Promise((resolve, reject) => {
      let printed = '';
      stack.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        const [, file] = /export KUBECONFIG=(\S+)/.exec(printed) ?? [];
        awsConfig = /export AWS_CONFIG_FILE=(\S+)/.exec(printed)?.[1] ?? awsConfig;
        if (file !== undefined && printed.includes('Ctrl-C')) resolve(file);
      });
      stack.once('exit', code => reject(new Error(`ended with ${code}: ${printed}`)));
    });
    mkdirSync(join(folder, '.kube'));
    symlinkSync(kubeconfig, join(folder, '.kube', 'config'));
  }, 180_000);
  afterAll(async () => {
    const ended = once(stack, 'exit');
    stack.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('run most of what they show', () => {
    expect(shellBlocks.filter(runs).length).toBeGreaterThan(25);
    expect(GUIDES_ON_SERVE.filter(file => !shellBlocks.some(block => block.file === file && runs(block)))).toEqual([]);
  });

  it.each(shellBlocks.filter(runs))(
    '$file: $text',
    async ({ text: block }) => {
      const script = block.replaceAll(/^npx curfew /gm, `${process.execPath} ${CURFEW} `);
      const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: folder,
        env: { ...process.env, HOME: folder, TMPDIR: folder, KUBECONFIG: kubeconfig, AWS_CONFIG_FILE: awsConfig },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      expect({ code: child.exitCode, failed: child.exitCode === 0 ? '' : out + error }).toEqual({
        code: 0,
        failed: '',
      });
    },
    180_000,
  );
});
