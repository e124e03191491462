/** `$KUBECONFIG` as kubectl reads it: it may name several files, and those that do not exist are passed over. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { UsageError } from './usage-error.ts';

const kubeconfig = z.object({
  'current-context': z.string().nullish(),
  contexts: z.array(z.object({ name: z.string() })).nullish(),
});

export interface ChosenFile {
  readonly file: string;
  readonly context: string | undefined;
}

/**
 * The first file that has the context; by default the first current context that a file names. Unlike kubectl it wants cluster and user of
 * that context in the same file, where every tool writes them. Throws `UsageError` when none of several files has it.
 */
export function chooseKubeconfig(list: string, context: string | undefined): ChosenFile {
  const files = list.split(delimiter).filter(file => file !== '');
  const [first = list, second] = files;
  if (second === undefined) return { file: first, context };
  const read = files.filter(file => existsSync(file)).map(file => ({ file, ...contextsOf(file) }));
  const wanted = context ?? read.find(({ current }) => current !== '')?.current;
  if (wanted === undefined) return { file: read[0]?.file ?? first, context: undefined };
  const found = read.find(({ names }) => names.includes(wanted));
  if (found !== undefined) return { file: found.file, context: wanted };
  const known = read.flatMap(({ names }) => names).join(', ');
  throw new UsageError(
    `no file of $KUBECONFIG has a context ${wanted}: ${known === '' ? 'they have none' : `they have ${known}`}`,
  );
}

/** Nothing where it is no kubeconfig: who loads it says so. */
function contextsOf(file: string): { readonly current: string; readonly names: readonly string[] } {
  try {
    const { contexts, 'current-context': current } = kubeconfig.parse(parse(readFileSync(file, 'utf8')));
    return { current: current ?? '', names: (contexts ?? []).map(({ name }) => name) };
  } catch {
    return { current: '', names: [] };
  }
}
