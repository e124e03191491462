import { addDuration, toEpochMs } from '../../shared/domain/time.ts';
import { createCloud } from '../../simulator/cloud.ts';
import { createVirtualTime } from '../../simulator/virtual-time.ts';
import { defineInstancesContract } from '../contract/instances.contract.ts';

defineInstancesContract('the simulated cloud', () => {
  const time = createVirtualTime({ start: toEpochMs(Date.UTC(2026, 0, 1)) });
  const cloud = createCloud(time);
  let count = 0;
  return {
    instances: cloud.instances(() => undefined),
    launch(options) {
      const providerID = `aws:///us-east-1a/i-${String((count += 1)).padStart(17, '0')}`;
      cloud.add(providerID, options);
      return providerID;
    },
    setState: (providerID, state) => cloud.setState(providerID, state),
    setCheck: (providerID, check, status) => cloud.setChecks(providerID, { [check]: status }),
    throttle: providerID => cloud.setFailure(providerID, 'throttle'),
    pass: duration => time.runUntil(addDuration(time.now(), duration)),
  };
});
