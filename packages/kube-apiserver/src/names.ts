/** Names, keys and values as `apimachinery` validates them. Each rule answers with the complaints that it has. */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_PATTERN = new RegExp(`^${LABEL}$`);
const SUBDOMAIN_PATTERN = new RegExp(`^${SUBDOMAIN}$`);
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const QUALIFIED_PATTERN = new RegExp(`^${QUALIFIED}$`);

const LABEL_TEXT = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SUBDOMAIN_TEXT = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const QUALIFIED_TEXT = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;
const LABEL_VALUE_TEXT = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${QUALIFIED})?')`;

/** How a resource's names are checked. */
export type NameRule = 'subdomain' | 'label' | 'path-segment';

/** Complaints about an object's name, or about a `generateName` (a prefix: its last character may be a dash). */
export function complainAboutName(rule: NameRule, name: string, isPrefix = false): string[] {
  // A dash at the end of a prefix is followed by the generated part, so it is checked as if one letter came after it.
  const checked = isPrefix && name.endsWith('-') ? `${name.slice(0, -1)}a` : name;
  switch (rule) {
    case 'label':
      if (checked.includes('.')) return ['must not contain dots'];
      return matches(checked, LABEL_PATTERN, LABEL_TEXT, { characters: 63 });
    case 'subdomain':
      return matches(checked, SUBDOMAIN_PATTERN, SUBDOMAIN_TEXT, { characters: 253 });
    case 'path-segment':
      return complainAboutPathSegment(name);
  }
}

function complainAboutPathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter(text => name.includes(text)).map(text => `may not contain '${text}'`);
}

/** Complaints about a namespace. */
export function complainAboutNamespace(namespace: string): string[] {
  return complainAboutName('label', namespace);
}

/** Complaints about a label key, an annotation key (in lower case) or a finalizer: `name` or `prefix/name`. */
export function complainAboutQualifiedName(key: string): string[] {
  const parts = key.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    return [
      `a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const complaints: string[] = [];
  if (second !== undefined) {
    if (first === '') complaints.push('prefix part must be non-empty');
    else
      complaints.push(
        ...matches(first, SUBDOMAIN_PATTERN, SUBDOMAIN_TEXT, { bytes: 253 }).map(text => `prefix part ${text}`),
      );
  }
  const name = second ?? first;
  if (name === '') complaints.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > 63) complaints.push('name part must be no more than 63 bytes');
  if (!QUALIFIED_PATTERN.test(name)) complaints.push(QUALIFIED_TEXT);
  return complaints;
}

/** Complaints about the value of a label. */
export function complainAboutLabelValue(value: string): string[] {
  const complaints: string[] = [];
  if (Buffer.byteLength(value) > 63) complaints.push('must be no more than 63 bytes');
  if (value !== '' && !QUALIFIED_PATTERN.test(value)) complaints.push(LABEL_VALUE_TEXT);
  return complaints;
}

/** Kubernetes measures bytes everywhere; of names it speaks as characters. */
function matches(
  text: string,
  pattern: RegExp,
  complaint: string,
  limit: { readonly bytes: number } | { readonly characters: number },
): string[] {
  const complaints: string[] = [];
  for (const [unit, most] of Object.entries(limit)) {
    if (Buffer.byteLength(text) > most) complaints.push(`must be no more than ${most} ${unit}`);
  }
  if (!pattern.test(text)) complaints.push(complaint);
  return complaints;
}

/** Finalizers of Kubernetes itself, which have no prefix. */
export const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);
