import { defaultBuckets, type WrittenDefinition } from './metric-definition.ts';

const ofPlugin = { plugin_name: { help: 'the name of the program, as the configuration has it' } } as const;

/** What is measured of the plugins for image credentials. */
export const credentialMetricDefinitions = {
  kubelet_credential_provider_plugin_duration: {
    type: 'histogram',
    help: 'How long a plugin for image credentials ran, whatever came of it.',
    unit: 's',
    labels: ofPlugin,
    buckets: defaultBuckets,
    part: 'NodeAgent',
    origin: 'kubelet',
  },
  kubelet_credential_provider_plugin_errors_total: {
    type: 'counter',
    help: 'Runs of plugins for image credentials that failed or took too long.',
    unit: '{error}',
    labels: ofPlugin,
    part: 'NodeAgent',
    origin: 'kubelet',
  },
  kubelet_credential_provider_config_info: {
    type: 'gauge',
    help: '1: the plugins for image credentials are those of this configuration.',
    unit: '1',
    labels: { hash: { help: '`sha256:` and the hash of the files of the configuration' } },
    part: 'NodeAgent',
    origin: 'kubelet',
  },
} as const satisfies Record<string, WrittenDefinition>;
