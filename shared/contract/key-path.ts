/** Long names are cut: a message is for people. */
const MAX_KEY_LENGTH = 60;

/** A path as Kubernetes writes it in its errors, `spec.repair.policies[0].toleration`; keys that are not plain names in quotes. */
export function formatKeyPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    const name = String(part);
    const short = name.length > MAX_KEY_LENGTH ? `${name.slice(0, MAX_KEY_LENGTH)}…` : name;
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[\w-]+$/.test(name)) text += text === '' ? short : `.${short}`;
    else text += `${text === '' ? '' : '.'}${JSON.stringify(short)}`;
  }
  return text;
}
