/** The user's context where nobody else reads it: a synthesis without the CDK CLI must not forget the configuration. */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const contextSchema = z.record(z.string(), z.unknown());

/** What the user gave is not valid: the message is for them, and no stack trace helps. */
export class InvalidContext extends Error {}

/** Empty when there is no such file. Throws `InvalidContext` that names it when it holds anything else than a JSON object. */
export function readContextFile(file: string): Readonly<Record<string, unknown>> {
  if (!existsSync(file)) return {};
  try {
    return contextSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new InvalidContext(`${file} must be a JSON object`, { cause: error });
  }
}
