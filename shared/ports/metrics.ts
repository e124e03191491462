/** Counts and values with few, bounded dimensions (never a node's or pod's name). */
export interface MetricSink {
  count(name: string, value?: number, dimensions?: Readonly<Record<string, string>>): void;
  /** A duration in milliseconds. */
  milliseconds(name: string, value: number, dimensions?: Readonly<Record<string, string>>): void;
}
