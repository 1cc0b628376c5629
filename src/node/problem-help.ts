import { probeHelp } from './probes/probe-types.ts';

/** What would help, by the kind of the problem. A word in capitals stands for a name that the problem gives. */
const helpByKind = {
  // a pod
  'config-map-missing': 'Create the config map OBJECT, or mark it optional.',
  'secret-missing': 'Create the secret OBJECT, or mark it optional.',
  'key-missing': 'Add the key KEY to OBJECT, or mark it optional.',
  'services-unread': 'Let the node list and watch services (deploy/rbac.yaml).',
  'service-account-token':
    'Create the service account OBJECT if it is missing; else let the node make tokens of it (deploy/rbac.yaml).',
  'resource-claims':
    'See whether the claim is allocated and reserved for the pod (kubectl get resourceclaim -o yaml), whether its driver runs on this node, and the log of the driver.',
  'disk-full': 'Make room on the disk of the node (df -h, df -i): it is tried again by itself.',
  'host-path': 'Correct the path or the type of the hostPath volume, or make on the node what it names.',
  'volume-type': 'Use a volume of another type: this agent has none of the one that the message names.',
  'volume-claim':
    'See whether the claim is bound (kubectl describe pvc), to which PersistentVolume, and what that one says (kubectl get pv -o yaml).',
  'csi-driver':
    'See whether the storage driver that the message names runs on this node and is registered (kubectl get csinode -o yaml), and its log.',
  'volume-attach':
    "See what the controller and the driver's attacher say of it (kubectl describe volumeattachment, the log of the external-attacher): they attach volumes to nodes.",
  volume: 'Mend what the message names; the log of the kernel (dmesg) says why a mount fails.',
  'pod-cgroup': 'See whether the agent may write to /sys/fs/cgroup, and whether cgroupDriver is that of the runtime.',
  sandbox: 'See what the container runtime says of the sandbox (crictl pods, its log).',
  'sandbox-network':
    'See what the network plugin says, and whether its configuration in /etc/cni/net.d and its programs in /opt/cni/bin are there.',
  // its images
  'image-credentials': 'Give the pod a pull secret for the registry (imagePullSecrets), or correct the one that it has.',
  'image-not-found': 'Correct the name or the tag of the image: its registry has none of that name.',
  'image-pull': 'See whether the node reaches the registry and trusts its certificate, and whether its disk has room.',
  'registry-unavailable': 'See whether the node reaches the registry: DNS, proxy, firewall.',
  'signature-validation-failed': 'Use an image that is signed as the policy of the runtime asks for.',
  'invalid-image-name': 'Correct the name of the image: [REGISTRY/]NAME[:TAG][@DIGEST], the name in lower case.',
  'err-image-never-pull': 'Bring the image to the node, or set imagePullPolicy to IfNotPresent.',
  'image-inspect-error': 'See what the container runtime says of the image (crictl images, its log).',
  // its containers
  'create-container-config-error': 'Correct what the message names in the spec of the pod.',
  'create-container-error': 'Correct what the runtime names in the spec of the pod, such as a command, a mount or a device.',
  'run-container-error': 'Correct the command of the container, or its image: the message names what could not be run.',
  container: 'See what the container runtime says (crictl ps -a, its log).',
  'post-start-hook-error': 'Correct the hook: a container whose hook fails is ended and started again.',
  'pre-stop-hook': 'Correct the hook: the container was ended without it.',
  'startup-probe': probeHelp.startup,
  'readiness-probe': probeHelp.readiness,
  'liveness-probe': probeHelp.liveness,
  'crash-loop-back-off': 'Read what the container wrote last: kubectl logs --previous, container OBJECT.',
  'oom-killed': "Raise the container's memory limit, or make it use less.",
  // its syncs and its end
  admission:
    'See why the function `admitPod` gives no answer: the pod waits until it has one, and the function is asked again by itself.',
  'admission-waits':
    'See why what the message names gives no answer: the pod waits for it, and is asked for by itself when there is one.',
  sync: 'See what the container runtime says (crictl pods, crictl ps -a, its log).',
  'slow-call': 'See what the container runtime does (crictl ps -a, its log): an image may be large, or a call of it hangs.',
  'waits-for-namesake': 'See why the earlier pod does not end: explain() of its uid says it, and the log.',
  'pod-end': 'See why the runtime cannot stop the container (crictl ps, its log).',
  'grace-over':
    'See what the runtime does with the containers (crictl ps, its log); a process that waits for a disk cannot be killed.',
  'clean-up': 'See what still uses the path that the message names (mount, lsof).',
  // the node
  'not-started': 'Call start().',
  start: 'Mend what the message names, and start the program again: the agent does not try by itself.',
  'port-taken': 'End what listens on this port, such as a kubelet, or set server.port; then start the program again.',
  'runtime-down': 'Start the container runtime, or see why it does not answer (systemctl status containerd, its log).',
  'runtime-silent': 'See why the container runtime does not list its pods (crictl pods, its log).',
  'network-not-ready':
    "Install the cluster's network plugin: the runtime finds none that is ready (/etc/cni/net.d, and what the plugin's pods say).",
  'memory-pressure': 'Free memory on the node, or move pods away: pods are evicted, and new ones without requests are refused.',
  'disk-pressure': 'Free the disk of the node: pods are evicted, and new ones are refused.',
  'pid-pressure': 'End processes on the node, or raise kernel.pid_max: pods are evicted, and new ones are refused.',
  'image-gc': 'Make room on the disk of the images, or set imageGCHighThresholdPercent to 100 where the runtime has no disk.',
  'container-gc': 'See what the container runtime says (crictl ps -a, its log).',
  eviction: 'Mend what the message names: nothing is evicted until then.',
  healthz: 'End what listens on this port, or set healthzPort and healthzBindAddress.',
  cgroups: 'See whether the agent may write to /sys/fs/cgroup, and whether cgroupDriver is that of the runtime.',
  // its plugins
  'credential-plugin':
    'See what the message says, and run the plugin by hand with a request: images that need its credentials are not pulled.',
  plugin: 'See what the message says, and the log of the plugin and of its registrar.',
  'plugins-folder':
    'See whether the agent may read plugins_registry in its root directory: plugins that come or go are not noticed.',
  'csi-node': 'Let the node get, create, update and delete its CSINode, and patch the status of its Node (deploy/rbac.yaml).',
  'resource-slices':
    'Let the node delete collections of resourceslices (deploy/rbac.yaml): pods may be placed here that no driver has devices for.',
  'claims-file':
    'Mend the file dra_manager_state in the root directory. Or drain the node and remove it: what drivers have made ready is then known to nobody.',
  'claims-left': 'See whether the driver that the message names runs on this node, and its log.',
  'csi-unstage':
    'See whether the storage driver runs on this node and what its log says: the node keeps the volume, and nobody detaches it, until the driver takes it back.',
  'csi-unsure':
    'Mend or remove the folders that the message names: no volume of a driver is given back, and none is said to be unused, until then.',
  'device-plugin':
    'See the log of the device plugin that the message names, and start it again: its devices are given to no pod until it lists them.',
  'device-checkpoint':
    'See whether the agent may read and write device-plugins in its root directory, and whether the disk has room. A file that cannot be read: end the pods that have devices, remove it, and start the agent again.',
  'shutting-down': 'Wait for the next start of the machine; shutdown -c calls off a shutdown that has not begun.',
  'shutdown-unseen':
    'See whether D-Bus and systemd-logind run, and whether busctl and systemd-inhibit are there: until then a shutdown kills the pods.',
  'shutdown-delay':
    'Set InhibitDelayMaxSec in /etc/systemd/logind.conf.d to what all groups take together, and reload systemd-logind.',
  // the certificate of its API
  'certificate-pending': 'Approve the request: kubectl certificate approve OBJECT.',
  'certificate-unsigned':
    'See whether kube-controller-manager runs and has the keys to sign (--cluster-signing-cert-file): it signs what is approved.',
  'certificate-denied':
    'Ask who denied the request (kubectl describe csr OBJECT), and approve the next one: kubectl certificate approve.',
  'certificate-unusable':
    'See what has become of the request (kubectl describe csr OBJECT): the next one needs to be approved and signed.',
  'certificate-addresses': 'Give the node an IP address: the option `addresses` of a ProviderNode.',
  'certificate-files': 'Mend the file that the message names: it is read again by itself.',
  'certificate-function': 'See why the function `certificate` gives no certificate with its key.',
  // who may ask its API
  reviews:
    'Let the node create tokenreviews and subjectaccessreviews (deploy/rbac.yaml), or see why the apiserver does not answer: requests to its API are refused until then.',
} as const satisfies Readonly<Record<string, string>>;

/** A kind of problem that a node agent tells of and has help for. */
export type HelpedKind = keyof typeof helpByKind;

/** Names that stand in the help of some kinds. */
interface HelpNames {
  readonly OBJECT?: string;
  readonly KEY?: string;
}

/** The kind with what would help. */
export function helped<Kind extends HelpedKind>(
  kind: Kind,
  { OBJECT = '', KEY = '' }: HelpNames = {},
): { readonly kind: Kind; readonly help: string } {
  const help = helpByKind[kind].replace(/\b(?:OBJECT|KEY)\b/g, (name) => (name === 'KEY' ? KEY : OBJECT));
  return { kind, help };
}
