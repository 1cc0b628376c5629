// A status manager whose metrics Prometheus can read, over the embedder's own registry of prom-client. It serves them on this
// machine alone, reads them once as Prometheus would, and ends. Run it: node examples/prometheus.ts [KUBECONFIG]
import { createServer } from 'node:http';
import {
  BasicPodManager,
  DefaultPodDeletionSafety,
  KubePodClient,
  KubeTransport,
  loadClientConfig,
  StatusManager,
} from 'pod-status-manager';
import { createPrometheusMetrics } from 'pod-status-manager/prometheus';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';
import { Registry } from 'prom-client';

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });
const transport = new KubeTransport(kubeConfig);
const pods = new ResourceClient(transport, resources.pods);

const registry = new Registry();
// the label tells two managers of one process apart
const metrics = createPrometheusMetrics({ registry, labels: { node: 'my-node' } });
const podManager = new BasicPodManager();
const manager = new StatusManager({
  podClient: new KubePodClient(transport),
  podManager,
  podDeletionSafety: new DefaultPodDeletionSafety({ runtimeCache: { hasSynced: () => true, getContainers: () => [] } }),
  metrics,
});
manager.start();

const web = { namespace: 'default', name: `web-${process.pid}` };
const pod = await pods.create({ metadata: web, spec: { nodeName: 'my-node', containers: [{ name: 'app', image: 'app:1' }] } });
podManager.addPod(pod);
manager.setPodStatus(pod, { phase: 'Running' });
await manager.flush();

const http = createServer((_request, response) => {
  registry.metrics().then(
    (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
    () => response.writeHead(500).end(),
  );
});
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
const address = http.address();
const port = typeof address === 'object' ? address?.port : undefined;

const scrape = await fetch(`http://127.0.0.1:${port}/metrics`);
const lines = (await scrape.text()).split('\n');
const shown = /^pod_status_manager_(syncs_total|pods|requests_total)\{.*\} [1-9]/;
console.log(lines.filter((line) => shown.test(line)).join('\n'));

await new Promise((resolve) => http.close(resolve));
await manager.stop();
await metrics.close();
await pods.delete(web, { gracePeriodSeconds: 0 });
await transport.close();
await server?.stop();
