import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { checkOpenFiles, readOpenFilesLimit } from '../../cli/start/open-files.ts';

const limits = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft.padEnd(20)} 524288               files\n`;

it('too few open files are refused with what to do, before anything starts', () => {
  expect(() => checkOpenFiles(limits('30'))).toThrow(
    'the limit of open files is 30, and the local stack needs 256: raise it with `ulimit -n 1024` and start again',
  );
  for (const enough of [limits('256'), limits('unlimited'), '']) expect(() => checkOpenFiles(enough)).not.toThrow();
});

it('the limit is read as Linux writes it', () => {
  const script = 'ulimit -n 30; cat /proc/self/limits';
  expect(readOpenFilesLimit(execFileSync('sh', ['-c', script], { encoding: 'utf8' }))).toBe(30);
});
