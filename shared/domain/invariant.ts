/** Asserts what only a mistake in our own code can break; `statement` names the invariant. */
export function invariant(condition: boolean, statement: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${statement}`);
}
