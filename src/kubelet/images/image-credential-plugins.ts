// Behaviour of pkg/credentialprovider/plugin/plugins.go, v1.36.3.

import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { problemFields } from '../../base/problem.ts';
import { runProgram } from '../../base/run-program.ts';
import { helped } from '../../node/problem-help.ts';
import type { ImageAuth } from '../runtime/runtime-images.ts';
import { readImageCredentialConfig } from './image-credential-config.ts';
import {
  ImageCredentialPlugin,
  type ImageCredentialPluginOptions,
  type ImageCredentialRun,
  type PullServiceAccount,
  type ServiceAccountSource,
} from './image-credential-plugin.ts';
import { lookUp, type PlacedCredentials } from './keyring.ts';

export interface ImageCredentialPluginsOptions {
  /** A file of kind CredentialProviderConfig, or a folder of such files. */
  readonly config: string;
  /** The folder of the programs. */
  readonly binDir: string;
  readonly accounts: ServiceAccountSource;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: as a process. */
  readonly run?: ImageCredentialPluginOptions['run'];
}

/** Credentials of a plugin for one image and one pod. */
export interface PluginCredentials {
  readonly auth: ImageAuth;
  /** Undefined: they are for every pod of the node. */
  readonly account: PullServiceAccount | undefined;
}

/** What all plugins give for one image and one pod. */
export interface PluginsAnswer {
  /** In the order in which they are tried. */
  readonly credentials: readonly PluginCredentials[];
  /** The plugins that gave no answer, or none that can be used. */
  readonly failed: readonly string[];
}

/** A pull that fails is tried again after five minutes at most: nobody asks any more. */
const forgottenAfterMs = 600_000;

interface RunningPlugin {
  readonly plugin: ImageCredentialPlugin;
  readonly failures: FailureRun;
}

/** The plugins for credentials of images that the node has: programs that are asked before an image is pulled. */
export class ImageCredentialPlugins {
  readonly #options: ImageCredentialPluginsOptions;
  #plugins: readonly RunningPlugin[] = [];

  constructor(options: ImageCredentialPluginsOptions) {
    this.#options = options;
  }

  /** Reads the configuration, once. Rejects with ERR_INVALID_OPTION, naming the file, the rule and the value. */
  async load(): Promise<void> {
    const { config, binDir, accounts, clock, logger, metrics, run = runAsProcess } = this.#options;
    const { providers, hash } = await readImageCredentialConfig(config, binDir);
    metrics.set('kubelet_credential_provider_config_info', 1, { hash });
    this.#plugins = providers.map((provider) => ({
      plugin: new ImageCredentialPlugin({ provider, program: join(binDir, provider.name), run, accounts, clock, metrics }),
      failures: new FailureRun(
        clock,
        (ended) => logger.info({ plugin: provider.name, ...ended }, 'a plugin gives credentials for images again'),
        forgottenAfterMs,
      ),
    }));
  }

  /** The credentials for a repository, as the pod may use them. A plugin that fails counts as one without. Rejects with the signal's reason alone. */
  async for(repository: string, pod: Pod, signal: AbortSignal): Promise<PluginsAnswer> {
    const failed: string[] = [];
    const answers = await Promise.all(
      this.#plugins.map(async (running): Promise<readonly PlacedCredentials<PluginCredentials>[]> => {
        try {
          const given = await running.plugin.give(repository, pod, signal);
          if (given === undefined) return [];
          running.failures.succeeded();
          const { account } = given;
          return given.placed.map(({ place, credentials: auth }) => ({ place, credentials: { auth, account } }));
        } catch (error) {
          signal.throwIfAborted();
          failed.push(running.plugin.name);
          this.#tell(running, error, pod);
          return [];
        }
      }),
    );
    return { credentials: lookUp(repository, answers.flat()), failed };
  }

  /** The plugins that have failed when they were asked last. */
  troubles(): readonly (Failing & { readonly name: string })[] {
    return this.#plugins.flatMap(({ plugin: { name }, failures: { failing } }) =>
      failing === undefined ? [] : [{ name, ...failing }],
    );
  }

  #tell({ plugin: { name }, failures }: RunningPlugin, err: unknown, pod: Pod): void {
    const { clock, logger } = this.#options;
    const problem = problemFields({ ...failures.failed(err), ...helped('credential-plugin') }, clock.now());
    logger.error({ err, plugin: name, ...podFields(pod.metadata), ...problem }, 'a plugin gave no credentials for an image');
  }
}

function runAsProcess({ program: command, ...run }: ImageCredentialRun): Promise<string> {
  return runProgram({ command, ...run });
}
