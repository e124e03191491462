/** Elements in a line each. */
type Child = Node | string | undefined | false;
type Properties = Readonly<Record<string, unknown>>;

/** Creates an element: properties that begin with `on` are listeners, `class` and names with a dash are attributes, others are properties. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function' && key.startsWith('on')) {
      element.addEventListener(key.slice(2), event => void Reflect.apply(value, element, [event]));
    } else if (key === 'class' || key === 'style' || key === 'role' || key.includes('-'))
      element.setAttribute(key, textOf(value));
    else Reflect.set(element, key, value);
  }
  element.append(...children.filter(child => child !== undefined && child !== false));
  return element;
}

/** The element of an id that the page itself has made. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
