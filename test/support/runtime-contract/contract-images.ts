import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './contract-pod.ts';
import type { MakeRuntimeSubject, RuntimeSubject } from './runtime-subject.ts';

/** What every runtime does with images. */
export function imageContract(makeSubject: MakeRuntimeSubject): void {
  describe('images', () => {
    let subject: RuntimeSubject;
    beforeAll(async () => {
      subject = await makeSubject();
    });
    afterAll(() => subject.close());

    it('are found by name and by id, and are on the list', async () => {
      const { runtime, image } = subject;
      const found = await runtime.imageStatus(image);
      expect(found?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(found?.repoTags).toEqual(expect.arrayContaining([expect.stringContaining(image)]));
      expect(found?.sizeBytes).toBeGreaterThan(0);
      expect(await runtime.imageStatus(found?.id ?? '')).toEqual(found);
      expect(await runtime.listImages()).toContainEqual(found);
    });

    it('that are not there are undefined, and can be removed', async () => {
      const { runtime, missingImage } = subject;
      expect(await runtime.imageStatus(missingImage)).toBeUndefined();
      await subject.settled(runtime.removeImage(missingImage));
      expect((await runtime.listImages()).flatMap(({ repoTags }) => repoTags)).not.toContain(missingImage);
    });

    it('are pulled, and gone when they are removed', async () => {
      const { runtime, pullableImage } = subject;
      const ref = await subject.settled(runtime.pullImage(pullableImage));
      expect(await runtime.imageStatus(ref)).toEqual(await runtime.imageStatus(pullableImage));
      expect(await runtime.imageStatus(ref)).toBeDefined();
      await subject.settled(runtime.removeImage(ref));
      expect(await runtime.imageStatus(pullableImage)).toBeUndefined();
      expect(await subject.settled(runtime.pullImage(pullableImage))).toBe(ref);
    });

    it('that no registry has cannot be pulled', async () => {
      const { runtime, missingImage } = subject;
      const failure = await failureOf(subject, runtime.pullImage(missingImage));
      expect(failure).toMatchObject({ name: 'RuntimeError', kind: 'not-found', call: 'PullImage' });
      expect(failure).toMatchObject({ message: expect.stringContaining(missingImage) });
    });

    it('take room on a file system', async () => {
      const [usage, ...others] = await subject.runtime.imageFilesystems();
      expect(others).toEqual([]);
      expect(usage?.mountpoint).toMatch(/^\//);
      expect(usage?.usedBytes).toBeGreaterThan(0);
      expect(usage?.at).toBeLessThanOrEqual(subject.now());
    });
  });
}
