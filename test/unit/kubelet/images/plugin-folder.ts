import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '../../../support/temp-dir.ts';

export const answerVersion = 'credentialprovider.kubelet.k8s.io/v1';

/** A provider of a CredentialProviderConfig. */
export function providerNamed(name: string, more: object = {}): object {
  const usual = { matchImages: ['*.example.com'], defaultCacheDuration: '10m', apiVersion: answerVersion };
  return { name, ...usual, ...more };
}

/** The text of a file of that kind. */
export function configText(providers: readonly object[], version = 'v1'): string {
  return JSON.stringify({ apiVersion: `kubelet.config.k8s.io/${version}`, kind: 'CredentialProviderConfig', providers });
}

/** What a plugin writes that gives a user for places. */
export function answerText(auth: object, more: object = {}): string {
  return JSON.stringify({ apiVersion: answerVersion, kind: 'CredentialProviderResponse', cacheKeyType: 'Image', auth, ...more });
}

/** A folder of plugins, which are shell scripts, and their configuration. */
export async function pluginFolder() {
  const folder = await tempDir();
  const [binDir, config] = [join(folder, 'bin'), join(folder, 'config.json')];
  await mkdir(binDir);
  return {
    folder,
    binDir,
    config,
    path: (name: string): string => join(folder, name),
    configure: (providers: readonly object[], version?: string) => writeFile(config, configText(providers, version)),
    /** The script may use `$FOLDER`. It notes each run in the file `runs`, and its request in `request`. */
    async plugin(name: string, script: string, mode = 0o755): Promise<void> {
      const head = `#!/bin/sh\nFOLDER=${folder}\ncat > $FOLDER/request\necho ${name} >> $FOLDER/runs\n`;
      await writeFile(join(binDir, name), `${head}${script}\n`);
      await chmod(join(binDir, name), mode);
    },
    read: (name: string): Promise<string> => readFile(join(folder, name), 'utf8').catch(() => ''),
    runs: async (): Promise<number> => (await readFile(join(folder, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1,
  };
}
