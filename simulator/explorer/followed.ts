/** Which schedule was followed from which, for counting them. */

/** A schedule, and those that have one more turn than it: of schedules that lead to the same place only the first is followed. */
export interface Followed {
  readonly isCrashed: boolean;
  readonly children: Followed[];
}

/** Schedules below it, those that go on alike each counted. */
export function sizeOf(root: Followed): { readonly schedules: number; readonly crashes: number } {
  const known = new Map<Followed, { schedules: number; crashes: number }>();
  const count = (one: Followed): { schedules: number; crashes: number } => {
    const before = known.get(one);
    if (before !== undefined) return before;
    const total = { schedules: 1, crashes: one.isCrashed ? 1 : 0 };
    for (const child of one.children) {
      const { schedules, crashes } = count(child);
      total.schedules += schedules;
      total.crashes += crashes;
    }
    known.set(one, total);
    return total;
  };
  const { schedules, crashes } = count(root);
  return { schedules: schedules - 1, crashes };
}
