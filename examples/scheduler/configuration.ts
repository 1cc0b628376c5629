import { load } from 'js-yaml';
import type { ClusterSchedulerOptions, LeaderElectionOptions, ProfileOptions } from 'pod-status-manager/scheduler';
import { Members } from './members.ts';

/** What a file of kind KubeSchedulerConfiguration says. */
export interface Configuration {
  /** The members of the scheduler's options that the file sets. */
  readonly options: Pick<
    ClusterSchedulerOptions,
    'profiles' | 'leaderElection' | 'requestLimit' | 'podInitialBackoffMs' | 'podMaxBackoffMs'
  >;
  readonly kubeconfig: string | undefined;
  /** The members of the file that change nothing here. */
  readonly withoutEffect: readonly string[];
}

/**
 * Reads a file of kind KubeSchedulerConfiguration, `kubescheduler.config.k8s.io/v1`. Throws, with the place in the file, for what is no
 * such file, and for each member that this program cannot do, such as `extenders`. The scheduler checks what profiles hold.
 */
export function readConfiguration(text: string): Configuration {
  const file = new Members('', load(text));
  file.constant('apiVersion', 'kubescheduler.config.k8s.io/v1');
  file.constant('kind', 'KubeSchedulerConfiguration');
  if (file.list('extenders').length > 0) throw new Error('extenders: expected none, because this program asks no extender');
  const connection = file.object('clientConnection');
  const [qps, burst] = [connection.number('qps'), connection.number('burst')];
  const kubeconfig = connection.text('kubeconfig') || undefined;
  const initialSeconds = file.number('podInitialBackoffSeconds');
  const maxSeconds = file.number('podMaxBackoffSeconds');
  const profiles = profilesOf(file);
  const configuration = {
    options: {
      leaderElection: leaderElectionOf(file.object('leaderElection')),
      ...(profiles !== undefined && { profiles }),
      ...(initialSeconds !== undefined && { podInitialBackoffMs: initialSeconds * 1000 }),
      ...(maxSeconds !== undefined && { podMaxBackoffMs: maxSeconds * 1000 }),
      // as in kube-scheduler, 50 and 100 stand for 0, and a rate below 0 is no limit
      ...(qps !== undefined && qps >= 0 && { requestLimit: { qps: qps || 50, burst: burst || 100 } }),
    },
    kubeconfig,
    withoutEffect: [
      ...file.ignore('parallelism', 'delayCacheUntilActive', 'enableProfiling', 'enableContentionProfiling'),
      ...connection.ignore('acceptContentTypes', 'contentType'),
    ],
  };
  file.refuseRest();
  connection.refuseRest();
  return configuration;
}

/** A share of nodes for all profiles counts for those that have none of their own. */
function profilesOf(file: Members): readonly ProfileOptions[] | undefined {
  const given = file.list('profiles');
  const percentageOfNodesToScore = file.number('percentageOfNodesToScore');
  if (!areProfiles(given)) throw new Error('profiles: expected a list of objects');
  if (percentageOfNodesToScore === undefined) return given.length === 0 ? undefined : given;
  const profiles = given.length === 0 ? [{}] : given;
  return profiles.map((profile) => ({
    ...profile,
    percentageOfNodesToScore: profile.percentageOfNodesToScore ?? percentageOfNodesToScore,
  }));
}

/** What the profiles hold is checked by the scheduler. */
function areProfiles(list: readonly unknown[]): list is readonly ProfileOptions[] {
  return list.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
}

function leaderElectionOf(election: Members): false | LeaderElectionOptions {
  const isWanted = election.boolean('leaderElect') ?? true;
  const [name, namespace] = [election.text('resourceName'), election.text('resourceNamespace')];
  const leaseDurationMs = election.durationMs('leaseDuration');
  const renewDeadlineMs = election.durationMs('renewDeadline');
  const retryPeriodMs = election.durationMs('retryPeriod');
  const lock = election.text('resourceLock') || 'leases';
  if (lock !== 'leases') throw new Error(`leaderElection.resourceLock: expected "leases", got ${JSON.stringify(lock)}`);
  election.refuseRest();
  return (
    isWanted && {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(leaseDurationMs !== undefined && { leaseDurationMs }),
      ...(renewDeadlineMs !== undefined && { renewDeadlineMs }),
      ...(retryPeriodMs !== undefined && { retryPeriodMs }),
    }
  );
}
