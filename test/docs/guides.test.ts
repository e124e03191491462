/**
 * The guides, from top to bottom, as a reader copies them: every block of the shell on one `npm start -- --serve`, in the order in which a
 * new reader comes to them. A guide ends each step with a `kubectl wait`, so a block that exits with 0 has shown what it promises.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKubectl } from '../../packages/kube-apiserver/test/http/kubectl.ts';
import { GUIDES_ON_SERVE } from './documents.ts';
import { isRunOnServe } from './not-run.ts';
import { serve, shellBlocksOf, type Served } from './served.ts';

const shellBlocks = GUIDES_ON_SERVE.flatMap(shellBlocksOf);
const runs = ({ text: block }: { readonly text: string }): boolean =>
  block.split('\n').every(line => isRunOnServe(line.trim()));

describe.skipIf(findKubectl() === undefined)('the guides on `npm start -- --serve`', () => {
  let served: Served;

  beforeAll(async () => {
    served = await serve();
  }, 180_000);
  afterAll(() => served.stop(), 60_000);

  it('run all that they show, but what starts the cluster and what needs AWS', () => {
    expect(shellBlocks.filter(block => !runs(block)).map(({ text }) => text.split('\n')[0])).toEqual([
      'npm ci',
      'aws events put-events --entries file://drain.json',
      'npm start -- --example managed-database',
    ]);
    expect(GUIDES_ON_SERVE.filter(file => !shellBlocks.some(block => block.file === file && runs(block)))).toEqual([]);
  });

  it.each(shellBlocks.filter(runs))(
    '$file: $text',
    async ({ text: block }) => {
      const { code, output, narrated } = await served.run(block);
      // The cause of a failure stands in what the stack says.
      expect({ code, failed: code === 0 ? '' : output + narrated }).toEqual({ code: 0, failed: '' });
    },
    180_000,
  );
});
