/** What the API server refuses to have changed, such as by an admission webhook: it holds no other object. */
import { messageOf, TerminalError } from '../../shared/errors.ts';

/** By the name of the object, as `NodeClaim a`, with the answer. */
export class Refusals {
  readonly #whys = new Map<string, string>();

  has = (what: string): boolean => this.#whys.has(what);

  list = (): readonly string[] => [...this.#whys].map(([what, why]) => `${what}: ${why}`);

  /** @returns what `act` answers; undefined: it was refused, now or before */
  async try<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    if (this.has(what)) return undefined;
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      this.#whys.set(what, messageOf(error));
      return undefined;
    }
  }
}
