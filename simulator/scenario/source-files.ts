/** The texts of the files and folders that a scenario names under `files`. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { filesIn } from './folder.ts';

/** As for a scenario itself. */
const MAX_BYTES = 16_000_000;
/** The scenario that is read from standard input. */
const STANDARD_INPUT = '-';

export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** Found in a folder, not named: what is none of Curfew's in it is passed over. */
  readonly isFound: boolean;
  /** The entry of `files` that it comes from. */
  readonly index: number;
}

export interface SourceFault {
  readonly index: number;
  readonly message: string;
}

/** @param scenarioFile paths are relative to its folder; it is not read again where it stands in one of them */
export function readSourceTexts(
  paths: readonly string[],
  scenarioFile: string,
): { readonly texts: readonly SourceText[]; readonly faults: readonly SourceFault[] } {
  const folder = scenarioFile === STANDARD_INPUT ? '.' : dirname(scenarioFile);
  const texts: SourceText[] = [];
  const faults: SourceFault[] = [];
  const seen = new Set<string>(scenarioFile === STANDARD_INPUT ? [] : [realPath(scenarioFile)]);
  paths.forEach((path, index) => {
    const from = resolve(folder, path) === path ? path : join(folder, path);
    try {
      const isFolder = statSync(from).isDirectory();
      const files = isFolder ? filesIn(from) : [from];
      if (files.length === 0) faults.push({ index, message: `${from} holds no .yaml, .yml, .json or .toml file` });
      for (const file of files) {
        const real = realPath(file);
        if (seen.has(real)) continue;
        seen.add(real);
        const text = readText(file);
        if (text.ok) texts.push({ file, text: text.text, isFound: isFolder, index });
        else faults.push({ index, message: text.message });
      }
    } catch (error) {
      faults.push({ index, message: describe(from, error) });
    }
  });
  return { texts, faults };
}

type Read = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

function readText(file: string): Read {
  const { size } = statSync(file);
  const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
  if (size > MAX_BYTES) {
    return { ok: false, message: `${file} has ${megabytes(size)} MB; it may have at most ${megabytes(MAX_BYTES)} MB` };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    if (!text.includes('\0')) return { ok: true, text };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return { ok: false, message: `${file} is not a text file in UTF-8` };
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

function describe(file: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return `there is no file or folder ${file}`;
  if (code === 'EACCES') return `${file} may not be read by this user`;
  return `${file}: ${messageOf(error)}`;
}
