import { readFileSync } from 'node:fs';
import { type CredentialSource, type Credentials, CredentialsFailure, kindOfError } from './credentials.ts';

/** A bearer token in a file. It is read for every request, so that a new token counts from the next one on. */
export class TokenFile implements CredentialSource {
  readonly #path: string;
  #current: Credentials | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async get(): Promise<Credentials> {
    const authorization = `Bearer ${this.#read()}`;
    if (this.#current?.authorization !== authorization) this.#current = { authorization };
    return this.#current;
  }

  refuse(): void {}

  async close(): Promise<void> {}

  #read(): string {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      const message = `The token file ${JSON.stringify(this.#path)} could not be read (${kindOfError(error)})`;
      throw new CredentialsFailure('NoCredentials', message);
    }
    const token = text.trim();
    if (token !== '') return token;
    throw new CredentialsFailure('NoCredentials', `The token file ${JSON.stringify(this.#path)} is empty`);
  }
}
