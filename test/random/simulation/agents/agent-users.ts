import type { WirePod } from '../../../../src/index.ts';
import type { ServedStore } from '../../../../src/testing/objects/resource-store.ts';
import type { ContainerLife, FakeImage, LifeRequest } from '../../../../src/testing.ts';
import type { Prng } from '../../chaos/prng.ts';

const namespace = 'default';
const podNames = Array.from({ length: 6 }, (_, i) => `pod-${i}`);
const deeds = {
  create: 10,
  delete: 5,
  'delete sooner': 3,
  'force delete': 2,
  recreate: 2,
  'change image': 2,
  'change secret': 2,
} as const;
const images = { steady: 6, job: 5, crashing: 3, missing: 1 } as const;

export interface AgentUsersParts {
  readonly pods: ServedStore;
  readonly secrets: ServedStore;
  readonly nodeName: string;
  readonly prng: Prng;
  readonly count: (what: string) => void;
}

/** People and controllers who create, change and delete pods and what pods refer to. */
export class AgentUsers {
  readonly #parts: AgentUsersParts;
  #version = 0;

  constructor(parts: AgentUsersParts) {
    this.#parts = parts;
    parts.secrets.create({ metadata: { name: 'key', namespace }, data: { key: 'c2VjcmV0' } });
  }

  act(): void {
    const { prng, count } = this.#parts;
    const deed = prng.weighted<keyof typeof deeds>(deeds);
    if (this.#do(deed)) count(`user: ${deed}`);
  }

  #do(deed: keyof typeof deeds): boolean {
    const { prng, secrets } = this.#parts;
    const all = this.#pods();
    if (deed === 'change secret') {
      const secret = secrets.get({ namespace, name: 'key' });
      const data = { key: Buffer.from(`secret ${++this.#version}`).toString('base64') };
      secrets.update({ ...secret, data });
      return true;
    }
    if (deed === 'create') {
      const name = podNames.find((each) => !all.some(({ metadata }) => metadata?.name === each));
      if (name !== undefined) this.#create(name);
      return name !== undefined;
    }
    const isEnding = ({ metadata }: WirePod): boolean => metadata?.deletionTimestamp !== undefined;
    const pod = prng.pick(deed === 'delete sooner' ? all.filter(isEnding) : all);
    if (pod === undefined || (deed === 'change image' && isEnding(pod))) return false;
    if (deed === 'delete') this.#delete(pod, prng.pick([undefined, undefined, 1, 10]));
    else if (deed === 'delete sooner') this.#delete(pod, prng.pick([1, 2]));
    else if (deed === 'change image') this.#changeImage(pod);
    else this.#delete(pod, 0);
    if (deed === 'recreate') this.#create(pod.metadata?.name ?? '');
    return true;
  }

  #create(name: string): void {
    const { pods, prng, nodeName } = this.#parts;
    const restartPolicy = prng.weighted({ Always: 5, OnFailure: 3, Never: 4 });
    const volumeMounts = [{ name: 'key', mountPath: '/key', readOnly: true }];
    const app = { name: 'app', image: this.#image(), volumeMounts };
    const containers = prng.chance(0.3) ? [app, { name: 'side', image: this.#image() }] : [app];
    const initContainers = prng.chance(0.3) ? [{ name: 'setup', image: 'example.test/init:1' }] : [];
    const volumes = [
      { name: 'key', secret: { secretName: 'key' } },
      { name: 'scratch', emptyDir: {} },
    ];
    const terminationGracePeriodSeconds = prng.pick([0, 1, 5, 5, 30]) ?? 30;
    const spec = { nodeName, restartPolicy, terminationGracePeriodSeconds, containers, initContainers, volumes };
    pods.create({ metadata: { name, namespace }, spec: { ...spec, automountServiceAccountToken: false } });
  }

  #changeImage(pod: WirePod): void {
    const [first, ...others] = pod.spec?.containers ?? [];
    if (first === undefined) return;
    const containers = [{ ...first, image: this.#image() }, ...others];
    this.#parts.pods.update({ ...pod, spec: { ...pod.spec, containers } });
  }

  #image(): string {
    const { prng } = this.#parts;
    return `example.test/${prng.weighted<keyof typeof images>(images)}:${prng.int(1, 3)}`;
  }

  #delete({ metadata }: WirePod, gracePeriodSeconds: number | undefined): void {
    const { name = '', uid = '' } = metadata ?? {};
    const request = { preconditions: { uid }, ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) };
    this.#parts.pods.delete({ namespace, name }, request);
  }

  #pods(): WirePod[] {
    return this.#parts.pods.list() as WirePod[];
  }
}

/** How the containers of an image live. */
export function drawLife(prng: Prng, { config }: LifeRequest): ContainerLife {
  const { userSpecifiedImage = config.image.image } = config.image;
  const ending = prng.chance(0.2) ? { ignoresSigterm: true } : { stopTakesMs: prng.between(0, 4000) };
  const start = { startTakesMs: prng.between(0, 300), ...(prng.chance(0.05) && { startError: 'exec: no such file' }) };
  if (userSpecifiedImage.includes('/init:')) return { runsMs: prng.between(100, 3000), exitCode: prng.chance(0.2) ? 1 : 0 };
  if (userSpecifiedImage.includes('/crashing:'))
    return { ...start, ...ending, runsMs: prng.between(0, 10_000), exitCode: prng.int(1, 9) };
  if (userSpecifiedImage.includes('/job:')) {
    return { ...start, ...ending, runsMs: prng.between(100, 20_000), exitCode: prng.chance(0.3) ? prng.int(1, 9) : 0 };
  }
  return { ...ending, ...(prng.chance(0.2) && { runsMs: prng.between(10_000, 100_000) }) };
}

export function drawImage(prng: Prng, image: string): FakeImage | undefined {
  return image.includes('/missing:') ? undefined : { pullMs: prng.between(50, 4000) };
}
