import { goTool, type ServerBinaries, serverBinaries } from '../../../support/go-tools.ts';

export interface Tools {
  readonly servers: ServerBinaries;
  readonly controllers: string;
  readonly kubectl: string;
  /** What `kubectl top` asks. */
  readonly metricsServer: string;
  /** virtual-kubelet with its mock. */
  readonly virtualKubelet: string;
  /** virtual-kubelet's own tests, and kwok's. */
  readonly suites: { readonly virtualKubelet: string; readonly kwok: string };
}

/** All programs of other projects that the tests run, one after the other. Where they are built, it only finds them. */
export async function buildTools(): Promise<Tools> {
  const servers = await serverBinaries();
  const controllers = await goTool('kube-controller-manager');
  const kubectl = await goTool('kubectl');
  const metricsServer = await goTool('metrics-server');
  const virtualKubelet = await goTool('virtual-kubelet');
  const suite = await goTool('virtual-kubelet-suite');
  return {
    servers,
    controllers,
    kubectl,
    metricsServer,
    virtualKubelet,
    suites: { virtualKubelet: suite, kwok: await goTool('kwok-suite') },
  };
}
