import type { ServedPod } from './answers.ts';

export type WatchEvent<T = ServedPod> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: { readonly code: number; readonly reason: string; readonly message: string } };

/** Cuts a watch's body into its events: one JSON object per line. */
export async function* readWatch<T = ServedPod>(body: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent<T>> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
}
