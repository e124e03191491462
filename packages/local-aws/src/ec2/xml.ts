/** XML as the Query protocols write it: elements and text, no attributes but the namespace. */
export type XmlContent = string | number | boolean | readonly XmlElement[];
export type XmlElement = readonly [name: string, content: XmlContent];

/** The document with its root element. */
export function toXml([name, content]: XmlElement, namespace?: string): string {
  const attribute = namespace === undefined ? '' : ` xmlns="${escape(namespace)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${attribute}>${write(content)}</${name}>`;
}

function write(content: XmlContent): string {
  if (typeof content !== 'object') return escape(String(content));
  return content.map(([name, inner]) => `<${name}>${write(inner)}</${name}>`).join('');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
