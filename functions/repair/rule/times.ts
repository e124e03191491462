/** How long things take, and how often they are looked at. */
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';

/** Two passes of one pool are so far apart at least. */
export const PASS_SPACING = seconds(1);

/** How long the attempt of another run may still act. */
export const RUN_SETTLES_AFTER = RUN_ENDS_WITHIN;

/** A node with something under way is looked at this often, so that it never goes out of sight. */
export const FOLLOW_CHECK = minutes(5);

/** A hold that ends with a change elsewhere is looked at again after this long. */
export const BLOCKED_CHECK = minutes(5);

export const OTHERS_CHECK = minutes(1);

/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
export const FAULT_CHECK = minutes(60);

/** Acts are remembered for a day. */
export const KEPT_FOR = minutes(24 * 60);
