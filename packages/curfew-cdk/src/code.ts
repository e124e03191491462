/** The code of the functions. */
import { Code } from 'aws-cdk-lib/aws-lambda';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** What the `handler` of a function is called in Lambda. */
export const HANDLER = 'index.handler';

/** The code that stands beside this module in the package. Throws in the repository, where nothing is bundled yet. */
export function packagedCode(functionName: string): Code {
  const folder = join(import.meta.dirname, 'functions', functionName);
  if (!existsSync(folder)) throw new Error(`${folder} is missing: the package is made by \`npm run release\``);
  return Code.fromAsset(folder);
}
