import { isIP } from 'node:net';
import { invalidOption } from '../../base/errors.ts';
import { integerOption, numberOption } from '../../base/options.ts';

/** How many and how often, and where the agent says that it is well. Names and rules are KubeletConfiguration's. */
export interface PaceSettings {
  /** The most pods of a processor; `maxPods` is the most of all. 0: `maxPods` alone counts. Default 0. */
  readonly podsPerCore?: number;
  /**
   * The longest wait of a container that ends again and again (`crashLoopBackOff.maxContainerRestartPeriod`), in milliseconds: from
   * 1000 to 300 000. Below 10 000 it is the first wait, too. Default 300 000.
   */
  readonly maxContainerRestartPeriodMs?: number;
  /** So many requests that write events leave in a second; they take none of those of `kubeAPIQPS`. 0: 5. Default 50. */
  readonly eventRecordQPS?: number;
  /** So many requests that write events may leave at once after a time without. Default 100. */
  readonly eventBurst?: number;
  /**
   * A port where `/healthz` is answered over HTTP, to everybody: whether the agent's loop goes round, and nothing else. 0: none. A port
   * that is taken is tried again every five seconds. Default 0; the kubelet's is 10 248.
   */
  readonly healthzPort?: number;
  /** The address of `healthzPort`. Default `127.0.0.1`. */
  readonly healthzBindAddress?: string;
}

export const paceDefaults: Required<PaceSettings> = {
  podsPerCore: 0,
  maxContainerRestartPeriodMs: 300_000,
  eventRecordQPS: 50,
  eventBurst: 100,
  healthzPort: 0,
  healthzBindAddress: '127.0.0.1',
};

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value: the rules of pkg/kubelet/apis/config/validation, v1.36.3. */
export function requirePace(settings: Required<PaceSettings>): void {
  const { healthzPort, healthzBindAddress } = settings;
  integerOption('podsPerCore', settings.podsPerCore, 0);
  numberOption('maxContainerRestartPeriodMs', settings.maxContainerRestartPeriodMs, 1000, 300_000);
  numberOption('eventRecordQPS', settings.eventRecordQPS, 0, 1e6);
  integerOption('eventBurst', settings.eventBurst, 1);
  if (!Number.isInteger(healthzPort) || healthzPort < 0 || healthzPort > 65_535) {
    throw invalidOption('healthzPort', 'an integer from 0 to 65535', healthzPort);
  }
  if (isIP(healthzBindAddress) === 0) throw invalidOption('healthzBindAddress', 'an IP address', healthzBindAddress);
}
