/** `lost`: a volume that the container has mounted does not have any more what was put there. */
const happenings = ['start', 'beat', 'lost', 'end'] as const;

/** One line that a container wrote about itself. Times are seconds since the machine started. */
export interface WitnessLine {
  readonly what: (typeof happenings)[number];
  /** The run that wrote it; each start of a container is another one. */
  readonly run: string;
  readonly at: number;
  /** Of an end: the exit code, or `term` when it was asked to end. Of a loss: the volume. */
  readonly how?: string;
}

export type PodKind = 'steady' | 'batch' | 'crashing' | 'init' | 'secret';

/** What a container was told to do. */
export interface ContainerPlan {
  readonly name: string;
  readonly isInit: boolean;
  /** So many beats before it ends by itself; -1: it never does. */
  readonly beats: number;
  /** With which code it then ends. */
  readonly exitCode: number;
}

/** What the apiserver says of a container at the end. */
export interface FinalContainer {
  readonly restartCount: number;
  readonly ready: boolean;
  readonly state: 'waiting' | 'running' | 'terminated';
  /** Of a container that has ended. */
  readonly exitCode?: number;
  /** Of the run before. */
  readonly lastExitCode?: number;
}

export interface PodEvidence {
  readonly uid: string;
  readonly name: string;
  readonly kind: PodKind;
  readonly restarts: boolean;
  readonly createdAt: number;
  readonly deletedAt?: number;
  /** When the watch said that the pod is gone. */
  readonly goneAt?: number;
  /** Processes of its containers at that moment. */
  readonly runningWhenGone: number;
  readonly containers: readonly ContainerPlan[];
  readonly witness: Readonly<Record<string, readonly WitnessLine[]>>;
  /** Containers with a process when all was calm, before what was left was deleted. */
  readonly runningAtEnd: readonly string[];
  /** Undefined for a pod that was deleted before. */
  readonly final?: { readonly phase: string; readonly containers: Readonly<Record<string, FinalContainer>> };
  /** Also of a pod that was deleted later. */
  readonly eviction?: Eviction;
  /** What was found of it after it was gone: containers, cgroups, mounts, folders. */
  readonly leftovers: readonly string[];
}

/** From when until when something was so, in seconds as the witnesses have them. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What the apiserver told of a pod that was evicted, or refused because the node ran short. */
export interface Eviction {
  /** When it was seen first. */
  readonly at: number;
  readonly phase: string;
  readonly message: string;
  /** It has the condition DisruptionTarget, True, by the kubelet. */
  readonly isDisruption: boolean;
  /** What the events with the reason Evicted say. */
  readonly events: readonly string[];
}

/** A process that a fault killed. */
export interface Injury {
  readonly podUID: string;
  /** Undefined: the sandbox, and with it the pod. */
  readonly container?: string;
  readonly at: number;
}

export interface Evidence {
  readonly pods: readonly PodEvidence[];
  readonly injuries: readonly Injury[];
  /** When the agent was killed. */
  readonly agentKills: readonly number[];
  /** When the runtime was away: from before it was killed until it answered again. */
  readonly runtimeAways: readonly Span[];
  /** When the disk was full: from before it was filled until it was free again. */
  readonly fullDisks: readonly Span[];
  /** So long the node takes no pods after it ran short: the setting evictionPressureTransitionPeriod. */
  readonly pressureSeconds: number;
  /** Files in which a secret was found once its pod was gone. */
  readonly secretsLeft: readonly string[];
}

/** The lines of one file; a last line that is cut off is left out. */
export function parseWitness(text: string): WitnessLine[] {
  return text.split('\n').flatMap((line) => {
    const [word, run, at, how] = line.split(' ');
    const what = happenings.find((one) => one === word);
    if (what === undefined || run === undefined || !Number.isFinite(Number(at))) return [];
    const hasHow = (what === 'end' || what === 'lost') && how !== undefined;
    return [{ what, run, at: Number(at), ...(hasHow && { how }) }];
  });
}

/** One run of a container, from its start to the last that it wrote. */
export interface Run {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** How it ended, where it could say. */
  readonly how: string | undefined;
}

/** In the order of their starts. */
export function runsOf(lines: readonly WitnessLine[]): Run[] {
  const byRun = Map.groupBy(lines, ({ run }) => run);
  const runs = [...byRun].map(([id, own]) => ({
    id,
    from: Math.min(...own.map(({ at }) => at)),
    to: Math.max(...own.map(({ at }) => at)),
    how: own.find(({ what }) => what === 'end')?.how,
  }));
  return runs.sort((a, b) => a.from - b.from);
}
