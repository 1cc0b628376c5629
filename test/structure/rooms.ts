/**
 * The floors of src, from the ground up, each with those that its files may import beside their own. Neighbours are closed to each
 * other: the scheduler sees no part of a node, and the heart no part of either.
 */
export const floors: Readonly<Record<string, string>> = {
  base: '',
  api: 'base',
  client: 'base api',
  status: 'base api client',
  node: 'base api client status',
  kubelet: 'base api client status node',
  scheduler: 'base api client',
  fleet: 'base api client status node',
  observe: 'base api client status',
  testing: 'base api client kubelet',
};

/**
 * The rooms of src, from the ground up, each with those that its files import. A pair that no file uses goes from the list. A file
 * beside the rooms of its floor, such as `src/base/errors.ts`, is a room itself.
 */
export const rooms: Readonly<Record<string, string>> = {
  'base/grpc-codes': '',
  'base/guard': '',
  'base/clock': 'base/guard',
  'base/errors': 'base/guard',
  'base/names': 'base/errors',
  'base/node-version': 'base/errors',
  'base/tls-server': '',
  'base/options': 'base/errors',
  'base/metrics': 'base/guard base/clock base/errors base/options',
  'base/random': 'base/guard',
  'base/secrets': '',
  'base/logging': 'base/guard base/clock base/errors base/options base/secrets',
  'base/concurrency': 'base/guard base/clock base/errors base/options base/logging',
  'base/text-beginning': '',
  'base/failure-run': 'base/clock base/errors base/text-beginning',
  'base/problem': 'base/secrets base/text-beginning',
  'base/run-program': 'base/guard base/errors base/concurrency base/text-beginning',
  'api/quantity': 'base/errors',
  'api/json': 'base/errors api/quantity',
  'api/patch': 'base/errors base/options api/json',
  'api/pod': 'base/errors base/names base/options api/quantity api/json',
  'api/manifest': 'base/errors base/names base/options api/quantity api/json api/pod',
  'api/selectors': 'base/errors base/names api/json',
  'client/kubeconfig': 'base/errors base/options api/json api/manifest',
  'client/credentials': 'base/clock base/errors base/options base/logging base/concurrency api/json client/kubeconfig',
  'client/transport':
    'base/guard base/clock base/errors base/options base/logging base/concurrency api/json client/kubeconfig client/credentials',
  'client/resources':
    'base/guard base/clock base/errors base/options base/concurrency base/text-beginning base/problem api/json ' +
    'api/patch client/kubeconfig client/transport',
  'client/events':
    'base/guard base/clock base/errors base/names base/random base/logging base/concurrency base/text-beginning ' +
    'base/failure-run base/problem api/json api/pod client/resources',
  'client/reflector':
    'base/guard base/clock base/errors base/options base/metrics base/random base/logging base/concurrency ' +
    'base/failure-run base/problem api/json api/pod client/kubeconfig client/transport client/resources',
  'client/leases': 'base/clock api/json',
  'client/reviews': 'base/clock base/concurrency api/json client/resources',
  'status/conditions': 'base/options api/json api/pod',
  'status/canonical': 'base/errors api/quantity api/json status/conditions',
  'status/events': 'api/json api/patch client/resources status/canonical',
  'status/pods': 'base/guard base/errors base/options base/logging base/concurrency api/json api/pod',
  'status/resize':
    'base/clock base/errors base/options base/metrics base/concurrency api/json status/conditions status/canonical',
  'status/rules': 'base/errors base/options base/concurrency base/problem api/json api/pod status/conditions status/canonical',
  'status/status-cache':
    'base/guard base/clock base/metrics base/logging base/concurrency base/problem api/json api/patch api/pod ' +
    'status/conditions status/canonical status/events status/pods status/resize status/rules',
  'status/cached-status': 'api/json',
  'status/sync':
    'base/guard base/clock base/errors base/metrics base/logging base/concurrency base/failure-run base/problem ' +
    'api/json api/patch api/pod client/transport client/resources status/conditions status/canonical status/events ' +
    'status/pods status/rules status/status-cache',
  'status/status-manager-options':
    'base/guard base/clock base/errors base/options base/metrics base/random base/logging base/concurrency ' +
    'client/resources status/pods status/sync',
  'status/status-manager':
    'base/guard base/errors base/options base/concurrency base/problem api/json api/pod status/canonical ' +
    'status/events status/resize status/rules status/status-cache status/cached-status status/sync ' +
    'status/status-manager-options',
  'node/files': 'base/clock base/errors api/json',
  'node/mirror':
    'base/guard base/clock base/errors base/names base/options base/metrics base/random base/logging ' +
    'base/concurrency base/failure-run api/json api/pod client/transport client/resources',
  'node/node-object':
    'base/guard base/clock base/errors base/names base/options base/metrics base/random base/logging base/concurrency ' +
    'base/text-beginning base/failure-run base/problem api/quantity api/json api/patch api/pod client/transport ' +
    'client/resources client/events client/reflector client/leases',
  'node/object-managers':
    'base/guard base/clock base/errors base/options base/metrics base/random base/logging base/concurrency api/json ' +
    'api/pod client/kubeconfig client/transport client/resources client/events client/reflector',
  'node/pod-files':
    'base/clock base/errors base/options base/random base/logging base/concurrency api/quantity api/json api/pod ' +
    'client/resources node/files node/object-managers',
  'node/pod-status':
    'base/guard base/clock base/errors base/options api/quantity api/json api/pod status/conditions status/canonical',
  'node/probes':
    'base/grpc-codes base/guard base/clock base/errors base/options base/metrics base/random base/logging ' +
    'base/concurrency base/failure-run base/problem api/json api/pod client/events status/conditions',
  'node/problem-help': 'node/probes',
  'node/environment':
    'base/guard base/clock base/errors base/metrics base/logging base/concurrency api/quantity api/json api/pod ' +
    'client/resources client/reflector node/object-managers node/problem-help',
  'node/sources':
    'base/guard base/clock base/errors base/names base/options base/metrics base/logging base/concurrency ' +
    'base/failure-run base/problem api/json api/pod api/manifest client/kubeconfig client/transport client/resources client/reflector',
  'node/streams': 'base/guard base/clock base/errors base/concurrency',
  'node/config':
    'base/guard base/clock base/errors base/options base/logging base/concurrency base/problem api/json api/pod ' +
    'client/resources client/events node/sources',
  'node/workers':
    'base/guard base/clock base/errors base/options base/metrics base/random base/logging base/concurrency ' +
    'base/failure-run base/problem api/json api/pod client/transport client/events status/conditions status/pods ' +
    'status/rules status/cached-status status/status-manager node/problem-help node/config',
  'node/certificates':
    'base/guard base/clock base/errors base/names base/options base/random base/secrets base/logging base/concurrency ' +
    'base/text-beginning base/failure-run base/problem api/json client/kubeconfig client/transport client/resources node/files node/problem-help',
  'node/server':
    'base/guard base/clock base/errors base/options base/logging base/concurrency base/text-beginning ' +
    'base/failure-run base/problem base/tls-server api/json api/pod client/resources client/reviews status/pods ' +
    'status/status-manager node/problem-help node/streams node/workers node/certificates',
  'node/node-problems':
    'base/failure-run base/problem api/json api/pod client/resources client/events node/node-object node/config ' +
    'node/workers',
  'node/provider':
    'base/guard base/clock base/errors base/names base/options base/metrics base/random base/logging ' +
    'base/concurrency base/text-beginning base/failure-run base/problem api/json api/pod client/kubeconfig client/transport ' +
    'client/resources client/events status/conditions status/canonical status/pods status/rules status/cached-status ' +
    'status/sync status/status-manager-options status/status-manager node/files node/mirror node/node-object ' +
    'node/object-managers node/pod-files node/pod-status node/problem-help node/environment node/sources ' +
    'node/streams node/config node/workers node/certificates node/server node/node-problems',
  'node/status-agent':
    'base/clock base/errors base/options base/metrics base/logging base/concurrency base/problem api/json api/pod ' +
    'client/kubeconfig client/transport client/resources status/pods status/sync status/status-manager-options status/status-manager ' +
    'node/sources node/node-problems',
  'node/container-provider':
    'base/guard base/clock base/errors base/options base/logging base/concurrency base/failure-run base/problem ' +
    'api/json api/pod client/events status/rules node/pod-status node/streams node/workers node/server node/provider',
  'kubelet/admission': 'base/errors base/names api/quantity api/json api/pod api/selectors node/node-object node/workers',
  'kubelet/cluster': 'base/errors api/json client/resources',
  'kubelet/cri/proto': '',
  'kubelet/runtime': 'base/errors api/pod node/environment',
  'kubelet/systemd': 'base/guard base/clock base/errors base/concurrency',
  'kubelet/cgroups':
    'base/guard base/clock base/errors base/options base/concurrency api/quantity api/json api/pod kubelet/runtime ' +
    'kubelet/systemd',
  'kubelet/grpc': 'base/grpc-codes base/guard base/clock base/errors base/text-beginning base/concurrency',
  'kubelet/cri':
    'base/clock base/errors base/options base/logging node/environment kubelet/cri/proto ' + 'kubelet/runtime kubelet/grpc',
  'kubelet/images':
    'base/guard base/clock base/errors base/names base/secrets base/logging base/concurrency base/text-beginning base/failure-run ' +
    'base/metrics base/problem base/run-program api/json api/pod api/manifest client/events node/files node/problem-help node/workers kubelet/runtime',
  'kubelet/logs': 'base/clock base/errors base/options base/logging base/concurrency api/json node/server kubelet/runtime',
  'kubelet/machine':
    'base/guard base/clock base/errors base/logging base/concurrency base/failure-run base/problem api/quantity ' +
    'api/json api/pod node/node-object node/pod-status node/problem-help kubelet/runtime kubelet/cgroups',
  'kubelet/pleg':
    'base/guard base/clock base/errors base/metrics base/logging base/concurrency base/failure-run api/pod ' +
    'node/workers kubelet/runtime',
  'kubelet/actions': 'api/json api/pod node/pod-status node/probes kubelet/runtime kubelet/pleg',
  'kubelet/resize':
    'base/guard base/errors base/logging api/quantity api/json api/pod client/events status/resize ' +
    'status/status-manager node/files node/pod-status node/workers kubelet/runtime kubelet/cgroups kubelet/pleg',
  'kubelet/eviction':
    'base/guard base/clock base/errors base/options base/logging base/concurrency base/failure-run base/problem api/quantity ' +
    'api/json api/pod client/events status/rules node/files node/node-object node/pod-status node/problem-help ' +
    'node/workers kubelet/admission kubelet/runtime kubelet/cgroups kubelet/resize',
  'kubelet/shutdown':
    'base/guard base/clock base/errors base/options base/metrics base/logging base/concurrency base/text-beginning ' +
    'base/failure-run base/problem base/run-program api/json api/pod node/files node/pod-status node/problem-help node/workers',
  'kubelet/cadvisor':
    'base/guard base/clock base/failure-run base/logging base/concurrency api/json api/pod kubelet/runtime kubelet/cgroups kubelet/machine',
  'kubelet/server':
    'base/clock base/errors base/options base/logging base/concurrency api/json api/pod client/resources ' +
    'node/certificates node/server kubelet/runtime kubelet/logs',
  'kubelet/volumes':
    'base/guard base/clock base/errors base/names base/options base/concurrency api/json api/pod node/files ' +
    'node/object-managers node/pod-files',
  'kubelet/registration':
    'base/clock base/errors base/guard base/logging base/problem base/text-beginning base/concurrency base/failure-run node/files ' +
    'node/problem-help',
  'kubelet/claims':
    'base/guard base/clock base/errors base/names base/logging base/run-program base/concurrency api/json api/pod api/selectors ' +
    'client/resources client/events node/files ' +
    'kubelet/volumes',
  'kubelet/csi':
    'base/clock base/errors base/guard base/names base/logging base/problem base/concurrency base/failure-run api/json api/pod ' +
    'api/quantity client/resources client/events node/files node/node-object node/object-managers node/pod-files node/problem-help ' +
    'kubelet/registration kubelet/volumes kubelet/claims',
  'kubelet/devices':
    'base/clock base/errors base/guard base/names base/logging base/metrics base/problem base/text-beginning base/concurrency ' +
    'base/failure-run api/quantity api/json api/pod node/files node/problem-help kubelet/registration',
  'kubelet/dra':
    'base/clock base/errors base/guard base/names base/logging base/problem base/text-beginning base/concurrency base/failure-run base/metrics ' +
    'api/json api/pod client/resources node/files node/problem-help kubelet/registration kubelet/devices',
  'kubelet/plugins/proto': '',
  'kubelet/plugins':
    'api/json base/clock base/errors base/options base/concurrency kubelet/grpc kubelet/registration kubelet/csi kubelet/dra kubelet/devices kubelet/plugins/proto',
  'kubelet/containers':
    'base/guard base/clock base/errors base/names base/options base/concurrency base/run-program api/json api/pod client/events node/files node/pod-status ' +
    'node/environment kubelet/runtime kubelet/cgroups kubelet/volumes kubelet/devices',
  'kubelet/pods':
    'base/guard base/clock base/errors base/options base/logging base/concurrency base/text-beginning ' +
    'base/failure-run base/problem api/json api/pod client/events status/conditions status/pods ' +
    'status/status-manager node/pod-status node/probes node/problem-help node/environment node/workers ' +
    'node/node-problems kubelet/runtime kubelet/cgroups kubelet/images kubelet/logs kubelet/pleg kubelet/actions ' +
    'kubelet/resize kubelet/volumes kubelet/containers kubelet/admission',
  'kubelet/agent':
    'base/guard base/clock base/errors base/names base/options base/metrics base/random base/logging base/concurrency ' +
    'base/failure-run base/problem api/quantity api/json api/pod client/kubeconfig client/transport client/resources client/events ' +
    'status/pods status/sync status/status-manager-options status/status-manager node/mirror node/node-object ' +
    'node/object-managers node/pod-files node/pod-status node/probes node/problem-help node/environment node/sources ' +
    'node/config node/workers node/server node/node-problems kubelet/admission kubelet/cluster kubelet/runtime ' +
    'kubelet/systemd kubelet/cgroups kubelet/images kubelet/logs kubelet/machine kubelet/pleg kubelet/resize kubelet/eviction ' +
    'kubelet/shutdown kubelet/cadvisor kubelet/server kubelet/volumes kubelet/registration kubelet/claims kubelet/csi kubelet/dra kubelet/devices kubelet/containers ' +
    'kubelet/pods',
  'scheduler/problem-kinds': '',
  'scheduler/nodes': 'base/errors base/names base/options api/quantity api/json api/pod api/selectors client/resources',
  'scheduler/cache': 'base/clock api/json api/selectors scheduler/nodes',
  'scheduler/extenders':
    'base/clock base/errors base/names base/options base/logging base/failure-run base/problem api/json api/pod client/kubeconfig ' +
    'client/transport scheduler/problem-kinds scheduler/nodes',
  'scheduler/framework':
    'base/guard base/clock base/errors base/concurrency api/json api/selectors client/transport client/resources client/reflector ' +
    'scheduler/nodes scheduler/extenders',
  'scheduler/plugins':
    'base/errors base/names base/options api/json api/pod api/selectors client/resources scheduler/nodes scheduler/framework',
  'scheduler/plugins/pod-affinity':
    'base/errors base/options api/json api/selectors client/resources scheduler/nodes scheduler/framework scheduler/plugins',
  'scheduler/plugins/resources':
    'base/errors base/names base/options api/json client/transport scheduler/nodes scheduler/framework scheduler/plugins',
  'scheduler/plugins/spread':
    'base/errors base/names base/options api/json api/selectors client/resources scheduler/nodes scheduler/framework ' +
    'scheduler/plugins',
  'scheduler/plugins/volumes':
    'base/clock base/errors base/options base/concurrency api/quantity api/json api/pod api/selectors client/transport ' +
    'client/resources client/reflector scheduler/nodes scheduler/framework scheduler/plugins',
  'scheduler/devices/cel': '',
  'scheduler/devices/cel/functions': 'api/json api/quantity scheduler/devices/cel',
  'scheduler/devices/cel/evaluation': 'scheduler/devices/cel scheduler/devices/cel/functions',
  'scheduler/devices/selectors':
    'base/errors base/text-beginning scheduler/devices/cel scheduler/devices/cel/functions scheduler/devices/cel/evaluation',
  'scheduler/devices': 'base/errors api/quantity api/json api/selectors',
  'scheduler/plugins/devices':
    'base/clock base/errors base/guard base/names base/options base/concurrency api/quantity api/json api/selectors client/resources ' +
    'scheduler/nodes scheduler/framework scheduler/plugins scheduler/devices scheduler/devices/selectors',
  'scheduler/classic/plugins':
    'api/json api/pod api/selectors client/resources scheduler/nodes scheduler/framework scheduler/plugins ' +
    'scheduler/plugins/resources scheduler/plugins/spread scheduler/plugins/volumes',
  'scheduler/preemption':
    'base/guard base/clock base/errors base/options base/logging base/concurrency base/problem api/json api/pod ' +
    'api/selectors client/resources scheduler/nodes scheduler/extenders scheduler/framework',
  'scheduler/classic':
    'base/errors base/names base/options api/json api/pod api/manifest scheduler/nodes scheduler/extenders scheduler/framework scheduler/plugins ' +
    'scheduler/plugins/pod-affinity scheduler/plugins/volumes scheduler/classic/plugins scheduler/preemption',
  'scheduler/profile':
    'base/guard base/errors base/options scheduler/framework scheduler/plugins scheduler/plugins/pod-affinity ' +
    'scheduler/plugins/devices scheduler/plugins/resources scheduler/plugins/spread scheduler/plugins/volumes ' +
    'scheduler/preemption scheduler/classic',
  'scheduler/config': 'base/errors base/options api/json api/manifest scheduler/extenders scheduler/profile',
  'scheduler/serving':
    'base/clock base/concurrency base/errors base/options base/logging base/tls-server client/resources client/reviews',
  'scheduler/queue':
    'base/guard base/clock base/errors base/logging base/concurrency base/problem api/json api/pod client/transport ' +
    'client/resources scheduler/problem-kinds scheduler/nodes scheduler/framework',
  'scheduler/reports':
    'base/clock base/metrics base/problem client/resources scheduler/problem-kinds scheduler/nodes scheduler/extenders scheduler/framework scheduler/queue',
  'scheduler/cluster':
    'base/guard base/clock base/errors base/options base/metrics base/random base/logging base/concurrency ' +
    'base/failure-run base/problem api/json api/pod client/transport client/resources client/events client/reflector ' +
    'client/leases scheduler/framework scheduler/reports',
  'scheduler/cycle':
    'base/guard base/clock base/errors base/logging base/concurrency base/failure-run base/problem api/json api/pod ' +
    'scheduler/nodes scheduler/cache scheduler/extenders scheduler/framework scheduler/preemption scheduler/profile ' +
    'scheduler/queue scheduler/reports',
  'scheduler/scheduler-options':
    'base/guard base/clock base/errors base/options base/metrics base/random base/logging base/concurrency ' +
    'base/problem api/json api/pod client/resources scheduler/nodes scheduler/extenders scheduler/framework scheduler/classic scheduler/profile ' +
    'scheduler/queue',
  'scheduler/scheduler-reports':
    'base/concurrency base/problem client/resources scheduler/nodes scheduler/cache scheduler/extenders scheduler/preemption scheduler/queue ' +
    'scheduler/reports scheduler/cycle scheduler/scheduler-options',
  'scheduler/scheduler':
    'base/logging base/concurrency api/json api/pod client/resources scheduler/nodes scheduler/cache scheduler/extenders ' +
    'scheduler/framework scheduler/classic scheduler/preemption scheduler/profile scheduler/queue scheduler/reports ' +
    'scheduler/cycle scheduler/scheduler-options scheduler/scheduler-reports',
  'scheduler/cluster-scheduler':
    'base/clock base/errors base/options base/metrics base/logging base/concurrency base/problem client/kubeconfig client/transport ' +
    'client/resources scheduler/reports scheduler/cluster scheduler/scheduler-options scheduler/scheduler-reports ' +
    'scheduler/scheduler',
  'fleet/fleet-reports': 'base/concurrency base/problem node/provider',
  'fleet/placement': '',
  'fleet/member':
    'base/guard base/errors base/clock base/options base/metrics base/logging base/concurrency base/problem api/json ' +
    'client/transport client/resources client/reflector client/leases fleet/fleet-reports fleet/placement',
  'fleet/nodes':
    'base/guard base/clock base/errors base/names base/options base/metrics base/logging base/concurrency base/problem api/json ' +
    'client/resources client/reflector node/provider fleet/placement fleet/member',
  'fleet/node-fleet-options':
    'base/clock base/errors base/names base/options base/metrics base/random base/logging base/concurrency client/kubeconfig client/resources ' +
    'node/provider fleet/member fleet/nodes',
  'fleet/fleet-problems': 'base/problem client/resources node/provider fleet/member',
  'fleet/fleet-log': 'base/clock base/failure-run base/guard base/logging base/problem',
  'fleet/fleet-snapshot':
    'base/metrics base/concurrency base/problem node/provider fleet/fleet-reports fleet/placement fleet/member ' +
    'fleet/nodes fleet/node-fleet-options fleet/fleet-problems',
  'fleet/node-fleet':
    'base/options base/metrics base/concurrency client/transport client/resources client/leases node/provider ' +
    'fleet/fleet-reports fleet/member fleet/nodes fleet/node-fleet-options fleet/fleet-snapshot fleet/fleet-log',
  'observe/debug/page': '',
  'observe/debug':
    'base/guard base/clock base/errors base/options base/logging base/concurrency base/problem api/json ' +
    'client/resources status/events status/sync status/status-manager observe/debug/page',
  'observe/opentelemetry-metrics': 'base/options base/metrics',
  'observe/prometheus-metrics': 'base/errors base/options base/metrics',
  'testing/fault-rules': '',
  'testing/objects': 'base/guard base/clock api/json api/patch client/transport client/resources',
  'testing/kinds': 'base/names api/quantity api/json api/patch client/resources testing/objects',
  'testing/pods-api': 'base/clock api/json api/patch api/pod api/manifest client/resources testing/objects',
  'testing/apiserver':
    'base/guard base/clock base/errors base/options api/json client/resources testing/fault-rules testing/objects ' +
    'testing/kinds testing/pods-api',
  'testing/fakes':
    'base/clock base/errors base/options base/concurrency api/json api/patch client/transport client/resources ' +
    'kubelet/runtime kubelet/cgroups kubelet/volumes kubelet/shutdown testing/objects testing/pods-api',
  'testing/runtime': 'base/clock base/errors base/options base/concurrency kubelet/runtime testing/fault-rules',
};

/** The entry points: the files of src that users import. `index` is the entry point `.`, every other one is `./NAME`. */
export const entryPoints = [
  'index',
  'reflector',
  'mirror',
  'object-managers',
  'node',
  'kubelet',
  'plugins',
  'certificates',
  'cri',
  'systemd',
  'fleet',
  'scheduler',
  'debug',
  'prometheus',
  'opentelemetry',
  'testing',
] as const;
