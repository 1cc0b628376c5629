import type { AdminClient } from './admin-client.ts';
import { listOf } from './answers.ts';

export interface Change<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/**
 * All objects at a path, and then each change of one, until the client is closed. A server that has much to do may end a watch: the next
 * one goes on where it ended. One that begins with what is there would not tell of what went in between. Rejects where the server refuses.
 */
export async function* followChanges<T extends { readonly metadata?: { readonly resourceVersion?: string } }>(
  admin: Pick<AdminClient, 'send' | 'watch'>,
  path: string,
): AsyncGenerator<Change<T>> {
  const list = listOf(await admin.send('GET', path));
  for (const object of list.items as readonly unknown[]) yield { type: 'ADDED', object: object as T };
  for (let { resourceVersion } = list.metadata; ; ) {
    for await (const event of admin.watch<T>(path, { resourceVersion, allowWatchBookmarks: 'true' })) {
      if (event.type === 'ERROR') throw new Error(`the watch of ${path} said ${JSON.stringify(event.object)}`);
      resourceVersion = event.object.metadata?.resourceVersion ?? resourceVersion;
      if (event.type !== 'BOOKMARK') yield { type: event.type, object: event.object };
    }
  }
}
