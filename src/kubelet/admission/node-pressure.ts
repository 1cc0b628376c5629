// Behaviour of pkg/kubelet/eviction/eviction_manager.go Admit, v1.36.3.
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import type { AdmissionCheck } from './check.ts';
import { isCriticalPod } from './critical-pod.ts';

const memoryTaint = 'node.kubernetes.io/memory-pressure';

/** Refuses pods while the node runs short: all but critical ones, and under memory pressure alone only those of class BestEffort. */
export const nodePressure: AdmissionCheck = ({ pod, pressures }) => {
  const short = Object.entries({
    MemoryPressure: pressures.memory,
    DiskPressure: pressures.disk,
    PIDPressure: pressures.pid,
  }).flatMap(([name, isShort]) => (isShort ? [name] : []));
  if (short.length === 0 || isCriticalPod(pod)) return undefined;
  if (short.length === 1 && pressures.memory) {
    const tolerated = (pod.spec?.tolerations ?? []).some(
      ({ key, operator, effect }) =>
        (key === memoryTaint || (!key && operator === 'Exists')) && (!effect || effect === 'NoSchedule'),
    );
    if (computePodQOSClass(pod.spec) !== 'BestEffort' || tolerated) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${short.join(' ')}]. ` };
};
