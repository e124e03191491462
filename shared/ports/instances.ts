/** Cloud instances by providerID (`aws:///us-west-2a/i-0abc`), never by node name (I10). */
export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated';

export interface Instances {
  /** undefined: the cloud knows no such instance. */
  describe(providerID: string): Promise<{ state: InstanceState } | undefined>;
  /** Idempotent; `notFound` means there is nothing left to do. */
  terminate(providerID: string): Promise<{ kind: 'ok' | 'notFound' }>;
  reboot(providerID: string): Promise<{ kind: 'ok' | 'notFound' }>;
}
