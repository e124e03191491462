/** Counts. Answers what it came to, so that no compiler leaves it out. */
export function spin(turns: number): number {
  let value = 1;
  for (let turn = 0; turn < turns; turn += 1) value = (value * 1_103_515_245 + 12_345) % 2_147_483_648;
  return value;
}
