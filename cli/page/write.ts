/** Writes a page to a file. */
import { writeFile } from 'node:fs/promises';
import type { PageData } from '../../packages/timeline/src/page-data.ts';
import { makePage } from './html.ts';

/** Throws what the system says when the file cannot be written. */
export async function writePage(file: string, title: string, data: PageData): Promise<void> {
  await writeFile(file, await makePage(title, data));
}
