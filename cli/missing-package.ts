/** Packages that are not there although the sources import them: npm leaves them out where it is told to, by `NODE_ENV=production` too. */
import { join } from 'node:path';

/** Node's own words for `import` and `require`, and esbuild's for the package with its program, which is optional to npm. */
const WORDS = [
  /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:\/[^']*)?'/,
  /The package "([^"]+)" could not be found, and is needed by/,
  /but this platform\s+needs the "([^"]+)" package/,
];

/** The remedy, if an error says that a package is missing. */
export function describeMissingPackage(text: string): string | undefined {
  const name = WORDS.map(words => words.exec(text)?.[1]).find(found => found !== undefined);
  if (name === undefined) return undefined;
  const root = join(import.meta.dirname, '..');
  return `the package ${name} is not installed: run \`npm ci --include=dev --include=optional\` in ${root}`;
}
