import type { Prng } from '../../../random/chaos/prng.ts';
import { eventually, pause } from '../../../random/faults/pause.ts';
import { checkEvidence, type Damage, isKeptByRuntime } from './check.ts';
import type { Evidence, PodEvidence } from './evidence.ts';
import { everydayLife, type FaultKind, faultKinds } from './fault-kinds.ts';
import { Scene, type SceneOptions } from './scene.ts';
import { secretText } from './workload.ts';

/** What one seed has shown. */
export interface PlayOutput {
  readonly seed: number;
  readonly pods: number;
  readonly runs: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly calmAfterMs: number;
  readonly damage: readonly Damage[];
  /** Containers and sandboxes that the runtime does not remove, of pods whose agent was killed. */
  readonly keptByRuntime: number;
}

export interface PlayedSeed {
  readonly seed: number;
  readonly prng: Prng;
  /** So many faults, one after the other. */
  readonly faults: number;
  readonly kinds: readonly FaultKind[];
}

const firstRunsWithinMs = 60_000;
const calmWithinMs = 150_000;
const goneWithinMs = 90_000;
/** The kubelet looks for containers and logs of pods that are gone once a minute. */
const leftoversWithinMs = 90_000;

/** Plays one seed with an agent that runs, and says what was found. */
export async function playSeed(played: PlayedSeed, options: SceneOptions): Promise<PlayOutput> {
  const scene = await Scene.open(options);
  const faults = await disturb(scene, played);
  const calmAt = performance.now();
  let calm = await seen(scene, options);
  // the last start may be younger than the last beat; and what is calm may not be so a moment later: some containers end again and again
  await eventually(
    async () => {
      calm = await seen(scene, options);
      return checkEvidence(calm).length === 0;
    },
    calmWithinMs,
    1000,
  );
  const calmAfterMs = performance.now() - calmAt;
  await scene.deleteAll();
  await eventually(() => scene.allGone, goneWithinMs, 500);
  await eventually(
    async () => [...(await scene.afterwards()).values()].every(({ leftovers }) => leftovers.length === 0),
    leftoversWithinMs,
    1000,
  );
  const afterwards = await scene.afterwards();
  scene.close();
  const endings = calm.pods.map((pod) => ({ ...pod, ...afterwards.get(pod.uid) }));
  const evidence = { ...calm, pods: endings, secretsLeft: await options.node.filesWith(secretText) };
  const undying = [...afterwards].filter(([, { goneAt }]) => goneAt === undefined);
  const stuck = undying.map(([uid]): Damage => ({ rule: 'a deleted pod does not go', detail: uid }));
  const ended = await options.agent.ended();
  const died = ended === undefined ? [] : [{ rule: 'a status is untrue', detail: `the agent ended: ${ended}` } as const];
  const runs = endings.flatMap(({ witness }) => Object.values(witness)).flat();
  return {
    ...{ seed: played.seed, pods: endings.length, faults, calmAfterMs: Math.round(calmAfterMs) },
    runs: runs.filter(({ what }) => what === 'start').length,
    keptByRuntime: endings.flatMap((pod) => pod.leftovers.filter((one) => isKeptByRuntime(one, pod, evidence))).length,
    damage: [...checkEvidence(evidence), ...stuck, ...died],
  };
}

/** What is known so far, as the checker wants it. */
async function seen(scene: Scene, { pressureSeconds }: SceneOptions): Promise<Evidence> {
  const { injuries, agentKills, runtimeAways, fullDisks } = scene;
  return { pods: await scene.evidence(), injuries, agentKills, runtimeAways, fullDisks, pressureSeconds, secretsLeft: [] };
}

function hasBegun({ witness }: PodEvidence): boolean {
  return Object.values(witness).some((lines) => lines.length > 0);
}

async function disturb(scene: Scene, { seed, prng, faults, kinds }: PlayedSeed): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let n = 0; n < 4; n++) await scene.createPod(prng.fork(`first ${n}`));
  await pause(5000);
  // a slow node would have nothing that a fault can hit
  await eventually(async () => (await scene.evidence()).every(hasBegun), firstRunsWithinMs, 500);
  for (let n = 0; n < faults; n++) {
    const dice = prng.fork(`fault ${n}`);
    await everydayLife(scene, dice);
    const kind = dice.pick(kinds);
    if (kind === undefined) continue;
    process.stderr.write(`seed ${seed}: ${kind}\n`);
    await faultKinds[kind](scene, dice);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
