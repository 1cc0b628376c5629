/** Amounts of resources, as the scheduler counts: CPU in thousandths, all else in whole units such as bytes. */
export interface ResourceAmounts {
  /** CPU, in thousandths. */
  readonly milliCPU: number;
  /** In bytes. */
  readonly memory: number;
  /** In bytes. */
  readonly ephemeralStorage: number;
  /** Extended resources and huge pages by name. */
  readonly scalar: ReadonlyMap<string, number>;
}

/** What a node has to give. */
export interface AllocatableAmounts extends ResourceAmounts {
  /** The most pods. */
  readonly pods: number;
}

/** CPU and memory where each container that asks for none counts as if it asked for 100m and 200 MiB. */
export interface NonZeroAmounts {
  /** CPU, in thousandths. */
  readonly milliCPU: number;
  /** In bytes. */
  readonly memory: number;
}
