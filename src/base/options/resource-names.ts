// Behaviour of pkg/apis/core/helper IsIntegerResourceName and IsExtendedResourceName, v1.36.3.

const counted = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];

/** True for a resource of which there are only whole numbers: pods, devices. */
export function isCountedResource(name: string): boolean {
  return counted.includes(name) || isExtendedResource(name);
}

/** True for a resource that Kubernetes itself does not know: `example.com/device`. */
export function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}
