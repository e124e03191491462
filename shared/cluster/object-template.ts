/** A template of the user's that renders one object: Go's text/template, then YAML. */
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import * as gotemplate from '../../packages/gotemplate/src/index.ts';
import * as yaml from 'yaml';
import { exactJson } from './exact-json.ts';
import { messageOf } from '../errors.ts';

/** A template renders one object; the API server takes 1.5 MB. */
export const TEMPLATE_LIMITS = { outputBytes: 1 << 20 };

/** Never throws. @param file its name in messages */
export function renderObject(
  file: string,
  template: string,
  data: JsonObject,
): { readonly ok: true; readonly value: JsonObject } | { readonly ok: false; readonly message: string } {
  const { parse, TemplateError, toGo } = gotemplate;
  let text: string;
  try {
    text = parse(file, template, { limits: TEMPLATE_LIMITS }).execute(toGo(data));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ok: false, message: `template ${file}: ${error.message}` };
  }
  const document = yaml.parseDocument(text, { prettyErrors: false, logLevel: 'silent', intAsBigInt: true });
  const [fault] = document.errors;
  if (fault !== undefined) return { ok: false, message: `template ${file} rendered no YAML: ${fault.message}` };
  let value: unknown;
  try {
    value = exactJson(document.toJS({ maxAliasCount: 100 }));
  } catch (error) {
    return { ok: false, message: `template ${file} rendered YAML that cannot be read: ${messageOf(error)}` };
  }
  return isJsonObject(value) ? { ok: true, value } : { ok: false, message: `template ${file} rendered no object` };
}
