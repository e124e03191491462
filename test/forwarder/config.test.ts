import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, usage } from '../../forwarder/config.ts';

const REQUIRED = { CLUSTER_NAME: 'prod', EVENT_BUS_NAME: 'curfew', AWS_REGION: 'us-west-2' };

function refusal(args: readonly string[], env: Record<string, string>): string {
  try {
    readConfig(args, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('readConfig', () => {
  it('needs the cluster, the bus and the Region, and has a default for the rest', () => {
    expect(readConfig([], REQUIRED)).toEqual({
      settings: {
        cluster: 'prod',
        queuedObjectsMax: 50_000,
        staleAfter: 300_000,
        drainTimeout: 10_000,
        heartbeatPeriod: 60_000,
        publishInterval: {
          period: 30_000,
          burst: 3,
          ofPart: { pods: { period: 250, burst: 1 }, drain: { burst: 12 }, unschedulable: { burst: 12 } },
        },
        resync: { period: 4 * 3_600_000, perSecondMax: 20 },
      },
      eventBusName: 'curfew',
      region: 'us-west-2',
      kubeconfig: undefined,
      context: undefined,
      healthHost: undefined,
      healthPort: 8080,
      logLevel: 'info',
      lease: undefined,
    });
  });

  it('prefers an option to its variable', () => {
    const config = readConfig(['--cluster-name', 'staging', '--lease-name=forwarder', '--heartbeat-seconds', '0'], {
      ...REQUIRED,
      LEASE_NAMESPACE: 'elsewhere',
    });
    expect(config).toMatchObject({
      settings: { cluster: 'staging' },
      lease: { namespace: 'elsewhere', name: 'forwarder' },
    });
    expect(config).not.toHaveProperty('settings.heartbeatPeriod');
  });

  it('says everything that is missing at once', () => {
    expect(refusal([], { CLUSTER_NAME: '' })).toBe(
      [
        '--cluster-name (environment variable CLUSTER_NAME) must be set',
        '--event-bus-name (environment variable EVENT_BUS_NAME) must be set',
        '--region (environment variable AWS_REGION) must be set',
      ].join('\n'),
    );
  });

  it.each([
    [['--health-port', 'http'], '--health-port (environment variable HEALTH_PORT) must be a whole number'],
    [['--health-port', '70000'], '--health-port (environment variable HEALTH_PORT) must be from 0 to 65535'],
    [
      ['--queued-objects-max', '0'],
      '--queued-objects-max (environment variable QUEUED_OBJECTS_MAX) must be from 1 to 1000000',
    ],
    [
      ['--stale-after-seconds', '60'],
      '--stale-after-seconds (environment variable STALE_AFTER_SECONDS) must be from 180 to 86400',
    ],
    [
      ['--log-level', 'loud'],
      '--log-level (environment variable LOG_LEVEL) must be one of debug, info, warn, error, silent',
    ],
    [['--resync-hours', '1000'], '--resync-hours (environment variable RESYNC_HOURS) must be from 0 to 168'],
    [['--cluster-name', ''], '--cluster-name (environment variable CLUSTER_NAME) must not be empty'],
  ])('refuses %j', (args, message) => {
    expect(refusal(args, REQUIRED)).toBe(message);
  });

  it('refuses an option that it does not know', () => {
    expect(refusal(['--clutser-name', 'x'], REQUIRED)).toMatch(/clutser-name/);
  });

  it('answers help, and names every option there', () => {
    expect(readConfig(['--help'], {})).toBe('help');
    expect(usage()).toContain('--event-bus-name (EVENT_BUS_NAME)');
  });
});
