/** A server that keeps its endpoint over `kill` and `start`. */
export interface DynamoDbServer {
  readonly endpoint: string;
  /** `dynoxide` or `dynalite`. */
  readonly implementation: string;
  /** Ends it without warning, as `kill -9` does; connections break. */
  kill(): Promise<void>;
  /** Brings it back on the same endpoint with the same data. Throws when it runs or does not answer in time. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
