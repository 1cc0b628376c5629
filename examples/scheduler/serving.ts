import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { KubeTransport, type Logger, loadClientConfig } from 'pod-status-manager';
import { selfSignedCertificate } from 'pod-status-manager/certificates';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { type ClusterScheduler, SchedulerServer, type ServedIdentity } from 'pod-status-manager/scheduler';
import type { ServingFlags } from './flags.ts';

/** What the pages show. */
export interface Shown {
  readonly scheduler: ClusterScheduler;
  /** The scheduler's own client. */
  readonly transport: KubeTransport;
  readonly metrics: () => Promise<string>;
  readonly configz: unknown;
  readonly logger: Logger | undefined;
}

/** The pages that are served. */
export interface ServedPages {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the pages until `close`. Rejects where there is no certificate, and for a port that is taken. */
export async function servePages(
  flags: ServingFlags,
  { scheduler, transport, metrics, configz, logger }: Shown,
): Promise<ServedPages> {
  const { reviewsKubeconfig } = flags;
  const reviews = reviewsKubeconfig === undefined ? undefined : new KubeTransport(loadClientConfig({ file: reviewsKubeconfig }));
  const temporary =
    flags.certFile === undefined && flags.certDir === undefined ? await mkdtemp(join(tmpdir(), 'scheduler-')) : undefined;
  let server: SchedulerServer | undefined;
  const close = async (): Promise<void> => {
    await server?.close();
    await reviews?.close();
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  };
  try {
    const clientCA = await clientAuthorities(flags, reviews ?? transport, logger);
    const certificate = certificateOf(flags, temporary ?? flags.certDir ?? '');
    const identity = async (): Promise<ServedIdentity> => ({ ...(await certificate()), clientCA: await clientCA() });
    server = new SchedulerServer({
      ...flags.options,
      transport: reviews ?? transport,
      identity,
      readyChecks: [{ name: 'sched-handler-sync', check: () => requireSynced(scheduler) }],
      metrics,
      configz: () => configz,
      ...(logger && { logger }),
    });
    const { port } = await server.listen();
    return { port, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function requireSynced(scheduler: ClusterScheduler): void {
  if (!scheduler.snapshot().hasSynced) throw new Error('the objects of the cluster are not known yet');
}

function certificateOf({ certFile, keyFile }: ServingFlags, folder: string): () => Promise<{ cert: string; key: string }> {
  if (certFile === undefined || keyFile === undefined) {
    return selfSignedCertificate({ nodeName: hostname().toLowerCase(), folder: resolve(folder) });
  }
  return async () => ({ cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') });
}

const lookedUp = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/** Gives the authorities of clients: of the file, read each time, or of the cluster, read once. */
async function clientAuthorities(
  { clientCAFile, skipsLookup, toleratesLookupFailure }: ServingFlags,
  transport: KubeTransport,
  logger: Logger | undefined,
): Promise<() => Promise<string | undefined>> {
  if (clientCAFile !== undefined) return () => readFile(clientCAFile, 'utf8');
  if (skipsLookup) return async () => undefined;
  try {
    const { data } = await new ResourceClient(transport, resources.configMaps).get(lookedUp);
    return async () => data?.['client-ca-file'];
  } catch (err) {
    if (!toleratesLookupFailure) throw err;
    (logger ?? console).warn({ err, ...lookedUp }, 'the authorities of clients are not known: no certificate of a client counts');
    return async () => undefined;
  }
}
