export const usage =
  'Usage: npm start -- [--node | --schedule | --fleet N [--nodes N]] [--break] [--pods N] [--seconds S] [--seed N] [--debug-port N]\n                    [--kubeconfig FILE [--context NAME] | --control-plane] [--namespace NAME]';

export const help = `A virtual node: pods are created, start, lose and regain readiness, fail and go,
and every change of their status goes to an apiserver. At the end every pod on it is compared with the manager.

${usage}

  --node              a whole node agent runs the pods, over a container runtime in memory: images are pulled, containers
                      start, fail, start again, complete and are ended. Nothing outside of the process but a folder of its own
                      for the time of the run
  --schedule          a scheduler places the pods on six virtual nodes of different sizes, in three zones, all in memory: pods
                      without a node come and go, spread, keep apart, and wait for room where there is none
  --fleet N           N processes, 1 to 16, share virtual nodes: each node is run by one of them. A process is killed, stopped or
                      frozen now and then and another one comes, pods come, go and change, and the page shows the nodes moving.
                      At the end every status is compared with what runs: none may be lost, none older than the one before, and no
                      pod created twice. Without --seconds, and without a terminal, it ends after 40 seconds. Not with --break
  --nodes N           nodes of the fleet, 1 to 2000 (default 200)
  --break             lets things go wrong, one after another, by the seed: the server refuses, is silent, answers nonsense; pods
                      vanish; the provider, the runtime or the scheduler meet what they cannot do. The view and the page show
                      what is wrong, and what the library says of it. Every fault ends again, and at the end nothing may differ.
                      Not with --kubeconfig; with --control-plane the provider alone goes wrong
  --pods N            pods at a time, 1 to 5000 (default 200; with --node 30, with --schedule 80, with --fleet 400)
  --seconds S         seconds of the run, 1 to 86400; then all statuses settle and are compared. Without it the run goes on
                      until Ctrl-C on a terminal, and elsewhere for 15 seconds
  --seed N            the same seed gives the same pods the same lives, and the same faults (default: a random one, shown)
  --kubeconfig FILE   on a real cluster; without it an apiserver in memory is used
  --context NAME      a context of that file other than its current one
  --control-plane     on a local etcd and kube-apiserver, started for this run (built first where they are missing)
  --namespace NAME    the run's namespace; created if it does not exist, and then removed at the end.
                      Default: pod-status-manager-RANDOM
  --debug-port N      the port of the debug page on 127.0.0.1, or off (default: a free one; its address is shown). With
                      --schedule each of the six nodes has a page, and the address lists them
  -h, --help          this text

On a cluster: the run has a node of its own, virtual-node-RANDOM, with a Node object and a Lease, so that the cluster's
controllers leave its pods alone. No real container starts, and nothing else is scheduled there. At the end, also after
Ctrl-C and after an error, the node, its Lease, the pods and the namespace are removed. The user needs the rights of
deploy/rbac.yaml, and to create and delete namespaces, to create pods and to delete collections of them.

Ctrl-C ends the run early, with the summary; a second Ctrl-C skips what the first still waits for.
Exit code: 0 all is well; 1 the server differs from the manager, or the run failed; 2 wrong options. NO_COLOR is honoured.`;
