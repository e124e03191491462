/** A template of the user's that renders one object: Go's text/template, then YAML. */
import { parseDocument } from 'yaml';
import { parse, TemplateError, toGo } from '../../packages/gotemplate/src/index.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';

/** A template renders one object; the API server takes 1.5 MB. */
export const TEMPLATE_LIMITS = { outputBytes: 1 << 20 };

export const isTable = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Never throws. @param file its name in messages */
export function renderObject(
  file: string,
  template: string,
  data: JsonObject,
): { readonly ok: true; readonly value: JsonObject } | { readonly ok: false; readonly message: string } {
  let text: string;
  try {
    text = parse(file, template, { limits: TEMPLATE_LIMITS }).execute(toGo(data));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ok: false, message: `template ${file}: ${error.message}` };
  }
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const [fault] = document.errors;
  if (fault !== undefined) return { ok: false, message: `template ${file} rendered no YAML: ${fault.message}` };
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  return isTable(value) ? { ok: true, value } : { ok: false, message: `template ${file} rendered no object` };
}
