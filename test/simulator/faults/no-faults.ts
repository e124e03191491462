import { FAULT_MIXES, type FaultMix } from '../../../simulator/faults/mix.ts';
import { seconds } from '../../../shared/domain/time.ts';

/** A mix in which nothing ever happens, to be overridden. */
export const NO_FAULTS: FaultMix = {
  probability: { ...FAULT_MIXES.light.probability, ...zeros(FAULT_MIXES.light.probability) },
  perHour: { forwarderRestart: 0, outage: 0 },
  clockSkew: { behind: seconds(0), ahead: seconds(0) },
};

function zeros(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.keys(values).map(key => [key, 0]));
}
