/**
 * What repair must see through: nodes that come back after an outage, faults that are back after each reboot, reports whose time moves, clocks
 * that are wrong.
 */
import { addDuration, hours, minutes, seconds, toDurationMs } from '../../../shared/domain/time.ts';
import { drawDuration, drawNear, pickSome, pickWeighted, times } from './draw.ts';
import { INCIDENT_OBSTACLES } from './incident-obstacles.ts';
import { drawReport, report, wellAgain } from './incident-reports.ts';
import { FAULT, FAULT_REASONS } from './incidents.ts';
import type { Story } from './model.ts';
import { laterTime } from './node-stories.ts';

/** All are dark, and come back one after the other; some do not. */
const comeBack: Story = ({ random, model, time }) => {
  const said = random.chance(0.7) ? { type: 'Ready', status: 'Unknown' } : drawReport(random);
  const end = addDuration(laterTime(random, model, time), drawDuration(random, seconds(0), minutes(30)));
  const apart = random.pick([seconds(0), seconds(3), seconds(20), minutes(1), minutes(4)]);
  return pickSome(random, model.nodes, random.pick([0.3, 0.6, 1])).flatMap((node, index) => {
    const begin = addDuration(time, drawDuration(random, seconds(0), seconds(30)));
    const back = addDuration(end, toDurationMs(index * apart));
    return [report(node, begin, said), ...(random.chance(0.9) ? [report(node, back, wellAgain(said))] : [])];
  });
};

/** Well for a while after each reboot, as if it had helped. */
const chronic: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const said = drawReport(random);
  const another = random.chance(0.2) ? drawReport(random) : said;
  let next = time;
  return times(random.integer(2, 6)).flatMap(turn => {
    const unhealthy = turn % 2 === 0 ? said : another;
    const begin = next;
    const end = addDuration(
      drawNear(random, begin, random.pick(model.durations)),
      drawDuration(random, seconds(5), minutes(4)),
    );
    next = addDuration(end, random.pick([seconds(20), minutes(3), minutes(6), minutes(20)]));
    return [report(node, begin, unhealthy), report(node, end, wellAgain(unhealthy))];
  });
};

/** The agent writes the time anew with each report, or the status stands there for ever. */
const latched: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const said = drawReport(random);
  const pause = random.pick([seconds(20), minutes(1), minutes(4)]);
  const moves = random.chance(0.7) ? random.integer(2, 12) : 0;
  return times(1 + moves).map(index => report(node, addDuration(time, toDurationMs(index * pause)), said));
};

/** The reason changes, and the status stays. */
const reasoned: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  let next = time;
  return times(random.integer(2, 5)).map(() => {
    const draft = report(node, next, { type: FAULT, status: 'True', reason: random.pick(FAULT_REASONS) }, time);
    next = drawNear(random, next, random.pick(model.durations));
    return draft;
  });
};

/** The clock of the machine is behind by minutes or days, or ahead. */
const skewed: Story = ({ random, model, time }) => {
  const node = random.pick(model.nodes);
  const said = drawReport(random);
  const off = pickWeighted<number>(random, [
    [2, 0 - random.integer(minutes(1), minutes(9))],
    [3, 0 - random.integer(minutes(11), minutes(100))],
    [2, random.integer(minutes(1), hours(2))],
  ]);
  const end = laterTime(random, model, addDuration(time, minutes(10)));
  return [
    report(node, time, said, addDuration(time, toDurationMs(off))),
    ...(random.chance(0.4) ? [report(node, end, wellAgain(said))] : []),
  ];
};

export const INCIDENT_STORIES: readonly (readonly [weight: number, story: Story])[] = [
  [4, comeBack],
  [6, chronic],
  [2, latched],
  [2, reasoned],
  [2, skewed],
  ...INCIDENT_OBSTACLES,
];
