import { type Script, type ScriptedServer, scriptedServer, sendJson } from '../transport/scripted-server.ts';
import { selfSigned } from '../transport/self-signed.ts';
import { trustedBySystem } from '../transport/trusted-cas.ts';

const certificate = selfSigned({ commonName: 'issuer', ips: ['127.0.0.1'] });
const clientId = 'node-agent';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token without a signature: neither client-node nor the library checks that. */
export function idToken(claims: object): string {
  return `${part({ alg: 'RS256' })}.${part(claims)}.signature`;
}

export interface IdentityProvider extends ScriptedServer {
  /** The refresh tokens it was shown, in order. Each serves once. */
  readonly shown: string[];
  /** The `authProvider` of a user whose id token is this one. */
  authProvider(firstToken: string): { name: 'oidc'; config: Record<string, string> };
  /** The id token that the renewal of this number gave. */
  tokenOf(renewal: number): string;
}

/** An OpenID Connect issuer, trusted by the system until it is disposed of, whose refresh tokens are refresh-1, refresh-2 and so on. `before` may hold an answer back. */
export async function identityProvider(before: () => Promise<void> = async () => {}): Promise<IdentityProvider> {
  const shown: string[] = [];
  const issuedAt = Math.floor(Date.now() / 1000);
  const tokenOf = (renewal: number): string =>
    idToken({ iss: server.url, aud: clientId, sub: `renewal-${renewal}`, iat: issuedAt, exp: issuedAt + 3600 });
  const script: Script = ({ url, body }, response) => {
    if (url === '/.well-known/openid-configuration') {
      const { url: issuer } = server;
      sendJson(response, { issuer, token_endpoint: `${issuer}/token`, response_types_supported: ['code'] });
      return;
    }
    const refreshToken = new URLSearchParams(body).get('refresh_token') ?? '';
    const serves = refreshToken === `refresh-${shown.length + 1}`;
    shown.push(refreshToken);
    const tokens = { token_type: 'bearer', access_token: 'a', expires_in: 3600, id_token: tokenOf(shown.length) };
    void before().then(() => {
      if (serves) sendJson(response, { ...tokens, refresh_token: `refresh-${shown.length + 1}` });
      else sendJson(response, { error: 'invalid_grant' }, { status: 400 });
    });
  };
  const server = await scriptedServer(script, certificate);
  const trust = trustedBySystem(certificate.cert);
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      trust[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
    shown,
    tokenOf,
    authProvider: (firstToken: string) => ({
      name: 'oidc' as const,
      config: {
        'client-id': clientId,
        'id-token': firstToken,
        'refresh-token': 'refresh-1',
        'idp-issuer-url': server.url,
      },
    }),
  };
}
