/** The refusal of an apply that would change fields of others. */
import type { ApiStatusError } from '../types.ts';
import type { Cause } from '../status-errors.ts';
import { applyConflict } from '../status-errors.ts';
import type { FieldSet } from './field-set.ts';
import { pathsOf } from './field-set.ts';
import type { Manager } from './managers.ts';
import { pathText } from './path-elements.ts';

/** 409 with a cause for each field that somebody else manages. */
export function conflictsWith(
  owners: readonly { readonly manager: Manager; readonly fields: FieldSet }[],
): ApiStatusError {
  const sorted = owners.toSorted((a, b) => (describe(a.manager) < describe(b.manager) ? -1 : 1));
  const causes: Cause[] = [];
  const lines: string[] = [];
  for (const { manager, fields } of sorted) {
    lines.push(`conflicts with ${describe(manager)}:`);
    for (const path of pathsOf(fields)) {
      const field = pathText(path);
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${describe(manager)}`, field });
      lines.push(`- ${field}`);
    }
  }
  const [only] = causes;
  const message =
    only !== undefined && causes.length === 1
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field ?? ''}`
      : `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`;
  return applyConflict(causes, message);
}

function describe({ name, operation, apiVersion, subresource }: Manager): string {
  const named = subresource === '' ? `"${name}"` : `"${name}" with subresource "${subresource}"`;
  return operation === 'Apply' ? named : `${named} using ${apiVersion}`;
}
