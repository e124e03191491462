/** A port whose calls pass through somebody else's hands: how faults, outages, deaths and journals are put around any port. */

export interface PortMethodCall {
  readonly method: string;
  readonly args: readonly unknown[];
  /** Makes the call. */
  readonly proceed: () => unknown;
}

/** The port with `around` in place of every method; other members are as they are now. Bound: the port is a plain object afterwards. */
export function aroundCalls<Port extends object>(port: Port, around: (call: PortMethodCall) => unknown): Port {
  const wrapped: Record<string, unknown> = {};
  for (const key of membersOf(port)) {
    const member: unknown = Reflect.get(port, key);
    wrapped[key] =
      typeof member === 'function'
        ? (...args: readonly unknown[]): unknown =>
            around({ method: key, args, proceed: () => Reflect.apply(member, port, args) })
        : member;
  }
  return wrapped as Port;
}

/** Its own, and those that its class gives it. */
function membersOf(port: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (let object = port; object !== Object.prototype && object !== null; object = Object.getPrototypeOf(object)) {
    for (const name of Object.getOwnPropertyNames(object)) if (name !== 'constructor') names.add(name);
  }
  return names;
}
