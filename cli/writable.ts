/** Whether a file can be written where an option says so, before the work that it is to hold: that can take a while. */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from './usage-error.ts';

/** Throws `UsageError` when there is no folder to write the file into, or a folder in its place. @param option such as `--output` */
export function checkWritable(file: string, option: string): void {
  const folder = dirname(file);
  if (!existsSync(folder))
    throw new UsageError(`the folder ${folder} does not exist: create it, or choose another ${option}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new UsageError(`${file} is a folder: give ${option} a file in it`);
}
