import type { Prng } from '../../../random/chaos/prng.ts';
import type { ContainerPlan, PodKind } from './evidence.ts';

const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-1';
/** A text that stands nowhere else. */
export const secretText = 'this-text-must-leave-the-disk-with-its-pod';

/**
 * Writes down its start, that it is there, and its end, and at each beat whether a volume has lost what was in it: what the first run
 * left in the scratch folder stays as long as the pod, over reboots, too. A full disk may take no mark.
 */
const script = `
read id < /proc/sys/kernel/random/uuid
boots=0
[ ! -e /witness/boots ] || read boots < /witness/boots
own=/witness/$POD_UID.$CONTAINER
mark=/scratch/mark-of-$CONTAINER
note() { IFS=' .' read whole part _ < /proc/uptime; echo "$1 $id $((boots * 1000000 + whole)).$part $2" >> $own; }
look() {
  [ ! -e $own.marked ] || [ -e $mark ] || note lost scratch
  [ ! -e /secret ] || [ -e /secret/text ] || note lost secret
}
[ -e $own.marked ] || { (: > $mark) 2> /dev/null && : > $own.marked; }
note start
trap 'note end term; exit 0' TERM
n=0
while [ $BEATS -lt 0 ] || [ $n -lt $BEATS ]; do note beat; look; sleep 0.5 & wait $!; n=$((n+1)); done
note end $EXIT_CODE
exit $EXIT_CODE`;

export interface PlannedPod {
  readonly name: string;
  readonly kind: PodKind;
  readonly restarts: boolean;
  readonly containers: readonly ContainerPlan[];
  readonly manifest: object;
}

const weights = { steady: 4, batch: 2, crashing: 2, init: 2, secret: 3 };

/** Where a pod runs, and the folder of that node which its containers write into. The file `boots` there counts the boots. */
export interface PodPlace {
  readonly nodeName: string;
  readonly witness: string;
}

export function plannedPod(name: string, prng: Prng, { nodeName, witness }: PodPlace): PlannedPod {
  const kind = prng.weighted(weights);
  const containers = plansFor(kind, prng);
  const restarts = kind !== 'batch';
  const of = (isInit: boolean) => containers.filter((plan) => plan.isInit === isInit).map((plan) => containerOf(plan, kind));
  const volumes = [
    { name: 'witness', hostPath: { path: witness } },
    { name: 'scratch', emptyDir: {} },
    ...(kind === 'secret' ? [{ name: 'secret', secret: { secretName: 'marked' } }] : []),
  ];
  const spec = {
    ...{ nodeName, restartPolicy: restarts ? 'Always' : 'Never', terminationGracePeriodSeconds: prng.int(1, 5) },
    ...{ volumes, containers: of(false), initContainers: of(true) },
  };
  return { name, kind, restarts, containers, manifest: { metadata: { name }, spec } };
}

function plansFor(kind: PodKind, prng: Prng): ContainerPlan[] {
  const main = { name: 'main', isInit: false, beats: -1, exitCode: 0 };
  switch (kind) {
    case 'batch':
      return [{ ...main, beats: prng.int(4, 40), exitCode: prng.pick([0, 3]) ?? 0 }];
    case 'crashing':
      return [{ ...main, beats: prng.int(2, 8), exitCode: prng.int(1, 9) }];
    case 'init':
      return [{ ...main, name: 'first', isInit: true, beats: prng.int(1, 6) }, main, { ...main, name: 'beside' }];
    default:
      return [main];
  }
}

function containerOf({ name, beats, exitCode }: ContainerPlan, kind: PodKind): object {
  const mounts = [
    { name: 'witness', mountPath: '/witness' },
    { name: 'scratch', mountPath: '/scratch' },
    ...(kind === 'secret' ? [{ name: 'secret', mountPath: '/secret' }] : []),
  ];
  return {
    ...{ name, image, imagePullPolicy: 'IfNotPresent', command: ['/bin/busybox', 'sh', '-c', script], volumeMounts: mounts },
    env: [
      { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
      { name: 'CONTAINER', value: name },
      { name: 'BEATS', value: String(beats) },
      { name: 'EXIT_CODE', value: String(exitCode) },
    ],
  };
}
