/** A port whose calls pass through somebody else's hands: how faults, outages, deaths and journals are put around any port. */

export interface PortMethodCall {
  readonly method: string;
  readonly args: readonly unknown[];
  /** Makes the call. */
  readonly proceed: () => unknown;
}

/** The port with `around` in place of every method; other members are as they were. */
export function aroundCalls<Port extends object>(port: Port, around: (call: PortMethodCall) => unknown): Port {
  const wrapped = new Map<string | symbol, unknown>();
  return new Proxy(port, {
    get(target, key) {
      const known = wrapped.get(key);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      const method = String(key);
      const call = (...args: readonly unknown[]): unknown =>
        around({ method, args, proceed: () => Reflect.apply(member, target, args) });
      wrapped.set(key, call);
      return call;
    },
  });
}
