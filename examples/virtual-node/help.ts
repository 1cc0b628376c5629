export const usage =
  'Usage: npm start -- [--pods N] [--seconds S] [--seed N] [--namespace NAME]\n                    [--kubeconfig FILE [--context NAME] | --control-plane]';

export const help = `A virtual node with a status manager: pods are created, start, lose and regain readiness, fail and go,
and every change of their status goes to an apiserver. At the end every pod on it is compared with the manager.

${usage}

  --pods N            pods at a time, 1 to 5000 (default 200)
  --seconds S         seconds of the run, 1 to 86400 (default 15); then all statuses settle and are compared
  --seed N            the same seed gives the same pods the same lives (default: a random one, shown)
  --kubeconfig FILE   on a real cluster; without it an apiserver in memory is used
  --context NAME      a context of that file other than its current one
  --control-plane     on a local etcd and kube-apiserver, started for this run (built first where they are missing)
  --namespace NAME    the run's namespace; created if it does not exist, and then removed at the end.
                      Default: pod-status-manager-RANDOM
  -h, --help          this text

On a cluster: the pods name a node of the run's own, which needs no Node object, so nothing is scheduled and no real
container starts. A kube-controller-manager deletes the pods of an unknown node after about a minute: keep --seconds
below 40 there. The user needs to create and delete namespaces and pods, and to patch pods/status.

Ctrl-C ends the run early, with the summary; a second Ctrl-C skips what the first still waits for.
Exit code: 0 all is well; 1 the server differs from the manager, or the run failed; 2 wrong options. NO_COLOR is honoured.`;
