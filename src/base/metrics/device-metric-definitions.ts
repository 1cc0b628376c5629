import { defaultBuckets, type WrittenDefinition } from './metric-definition.ts';

const ofVersion = { server_api_version: { help: 'the version of the API', values: ['v1', 'v1alpha1'] } } as const;
const ofResource = { resource_name: { help: 'the resource of the plugin, such as `example.com/gpu`' } } as const;

/** What is measured of the device plugins of a node. */
export const deviceMetricDefinitions = {
  kubelet_device_plugin_registration_total: {
    type: 'counter',
    help: "Registrations of device plugins at the kubelet's own socket.",
    unit: '{registration}',
    labels: ofResource,
    part: 'NodeAgent',
    origin: 'kubelet',
    endsWithResource: true,
  },
  kubelet_device_plugin_alloc_duration_seconds: {
    type: 'histogram',
    help: 'How long device plugins took to give devices to a container.',
    unit: 's',
    labels: ofResource,
    buckets: defaultBuckets,
    part: 'NodeAgent',
    origin: 'kubelet',
    endsWithResource: true,
  },
  kubelet_pod_resources_endpoint_requests_total: {
    type: 'counter',
    help: 'Calls of the API for the resources of pods.',
    unit: '{request}',
    labels: ofVersion,
    part: 'NodeAgent',
    origin: 'kubelet',
  },
} as const satisfies Record<string, WrittenDefinition>;
