import type { WirePod } from 'pod-status-manager';
import type { ImageAuth } from 'pod-status-manager/kubelet';
import type { ContainerLife, FakeExecRequest, FakeExecResult, FakeImage, LifeRequest } from 'pod-status-manager/testing';
import type { Random } from '../random.ts';

/** How a pod of the demo behaves. Its containers' images say it: the runtime knows nothing else of it. */
export type PodShape = 'web' | 'crashing' | 'job' | 'stubborn' | 'missing';

type PodSpec = NonNullable<WirePod['spec']>;
type Container = PodSpec['containers'][number];

export function pickShape(random: Random): PodShape {
  const dice = random.next();
  if (dice < 0.4) return 'web';
  if (dice < 0.7) return 'job';
  if (dice < 0.85) return 'crashing';
  return dice < 0.95 ? 'stubborn' : 'missing';
}

/** A pod bound to the node: no scheduler takes part. `suffix` makes its name its own. */
export function podOf(suffix: string, nodeName: string, random: Random, shape = pickShape(random)): WirePod {
  const spec: PodSpec = {
    nodeName,
    restartPolicy: shape === 'job' ? (random.chance(0.5) ? 'OnFailure' : 'Never') : 'Always',
    terminationGracePeriodSeconds: 2,
    automountServiceAccountToken: false,
    containers: [appOf(shape), ...(shape === 'web' && random.chance(0.3) ? [container('logs', 'web')] : [])],
  };
  const initContainers = [
    ...(random.chance(0.4) ? [container('prepare', 'prepare')] : []),
    ...(shape === 'web' && random.chance(0.25) ? [{ ...container('proxy', 'web'), restartPolicy: 'Always' }] : []),
  ];
  if (initContainers.length > 0) spec.initContainers = initContainers;
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${shape}-${suffix}` }, spec };
}

function appOf(shape: PodShape): Container {
  const app = container('app', shape);
  if (shape !== 'web') return app;
  return { ...app, readinessProbe: { exec: { command: ['ready'] }, periodSeconds: 1 } };
}

function container(name: string, shape: PodShape | 'prepare'): Container {
  return { name, image: `registry.example/${shape}:1` };
}

/** What the runtime makes of an image. */
export class PodLives {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** How a container lives. */
  readonly lives = ({ config, attempt }: LifeRequest): ContainerLife => {
    const { userSpecifiedImage = config.image.image } = config.image;
    const random = this.#random;
    const stopTakesMs = random.between(50, 600);
    if (userSpecifiedImage.includes('/prepare:')) return { runsMs: random.between(100, 600) };
    if (userSpecifiedImage.includes('/crashing:'))
      return { runsMs: random.between(400, 2500), exitCode: 1, message: 'out of luck' };
    if (userSpecifiedImage.includes('/stubborn:')) return { ignoresSigterm: true };
    if (!userSpecifiedImage.includes('/job:')) return { stopTakesMs };
    return { runsMs: random.between(500, 3000), exitCode: attempt === 0 && random.chance(0.4) ? 2 : 0, stopTakesMs };
  };

  /** A readiness probe succeeds most of the time; one that asks for `fail` never does. */
  readonly exec = ({ command }: Pick<FakeExecRequest, 'command'>): FakeExecResult => {
    if (command.includes('fail')) return { exitCode: 1, stdout: 'the disk is full' };
    return { exitCode: this.#random.chance(0.9) ? 0 : 1 };
  };

  /** Every image but one is there, after a while; a private one needs a password. */
  readonly registry = (image: string, auth?: ImageAuth): FakeImage | undefined => {
    if (image.includes('/private-') && auth === undefined) return { error: 'pull access denied: 401 Unauthorized' };
    return image.includes('/missing:') ? undefined : { pullMs: this.#random.between(100, 1200) };
  };
}
