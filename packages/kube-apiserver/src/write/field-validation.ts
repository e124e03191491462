/** Unknown fields: dropped, and told to the client or refused, as `fieldValidation` says. */
import { badRequest } from '../status-errors.ts';
import type { WriteOptions } from '../types.ts';

export interface FieldsOf {
  readonly kind: string;
  readonly version: string;
  readonly options: WriteOptions;
}

/** @throws ApiStatusError 400 under strict field validation */
export function reportUnknownFields(paths: readonly string[], { kind, version, options }: FieldsOf): void {
  if (paths.length === 0 || options.fieldValidation === 'Ignore') return;
  const complaints = paths.map(path => `unknown field "${path}"`);
  if (options.fieldValidation === 'Strict') {
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${complaints.join(', ')}`,
    );
  }
  for (const complaint of complaints) options.onWarning?.(complaint);
}
