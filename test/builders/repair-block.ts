/** A `repair` block with a value for each of its fields. */
export const REPAIR_BLOCK = {
  defaultTolerationDuration: '30m',
  policies: [{ conditionType: 'Ready', toleration: '45m' }],
  conditions: [{ type: 'DiskSlow', status: 'True', reason: '^Ssd', toleration: '20m' }],
  maxUnhealthy: '20%',
  maxConcurrentRepairs: 2,
  zoneOutage: { minNodes: 3, share: '55%' },
  freeze: 'Off',
  actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }],
  flapping: { window: '1h', unhealthyFor: '20m' },
  futility: { repairs: 3, window: '6h' },
};
