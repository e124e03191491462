/**
 * The user's configuration, key `config.toml` of ConfigMap `curfew/curfew-config`: feature gates of Curfew beside the TOML of the
 * node drainer (read by the drain function).
 */
import { parse as parseToml, TomlError } from 'smol-toml';
import * as z from './zod.ts';
import type { Parsed } from './policy-schema.ts';

const configSchema = z.looseObject({
  featureGates: z.prefault(z.strictObject({ nodeRepair: z._default(z.boolean(), false) }), {}),
});
export type CurfewConfig = z.infer<typeof configSchema>;

/** In force while there is no ConfigMap, or none that was ever valid. */
export const DEFAULT_CONFIG: CurfewConfig = { featureGates: { nodeRepair: false } };

/** Parses the TOML text; the message says line and column, or the path of what is not valid. */
export function parseConfig(text: string): Parsed<CurfewConfig> {
  let raw: unknown;
  try {
    raw = parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { ok: false, message: `line ${error.line}, column ${error.column}: ${error.message.split('\n')[0]}` };
  }
  const result = configSchema.safeParse(raw);
  if (result.success) return { ok: true, value: result.data };
  const issues = result.error.issues.map(issue => `${issue.path.map(String).join('.')}: ${issue.message}`);
  return { ok: false, message: issues.join('; ') };
}
