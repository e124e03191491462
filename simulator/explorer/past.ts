/** What happened before the two messages: lived through once for each situation, and taken over by every schedule. */
import { addDuration } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import type { ExploredWorld, Past } from './explored-world.ts';
import type { ExploredCluster } from './explored-cluster.ts';
import type { Situation } from './situation.ts';

/** Lives it in `world`; afterwards the cluster begins from there. */
export async function livePast(
  { name, earlier = [] }: Situation,
  cluster: ExploredCluster,
  world: ExploredWorld,
): Promise<Past> {
  for (const each of earlier) {
    switch (each.kind) {
      case 'change':
        each.change.apply(cluster.core);
        break;
      case 'wait':
        if (each.unattended === true) world.onRun = lifetime => lifetime.end();
        await world.pass(addDuration(world.time.now(), each.duration));
        world.onRun = undefined;
        break;
      case 'dieBefore':
        world.gate.dieBefore(each.description);
        break;
      case 'message':
        world.send(each.message);
        await world.pass(world.time.now());
    }
  }
  const [violation] = world.watcher.violations;
  invariant(violation === undefined, `${name}: what happened before is in order, not ${violation?.message}`);
  invariant(!world.gate.isDeathDue, `${name}: a run makes the call before which it is to die`);
  cluster.rebase();
  return world.past();
}
