import { describe, expect, it } from 'vitest';
import { decodeStaticPods } from '../../../../src/node.ts';

const origin = { source: '/etc/manifests/web.yaml', isFile: true, nodeName: 'node-1' };
const secret = 'hunter2SECRET';
const start = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: app:1\n';
const json = (container: object): string =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } },
    spec: { containers: [{ name: 'app', image: 'app:1', ...container }] },
  });

function refusal(text: string): Error {
  try {
    decodeStaticPods(text, origin);
  } catch (error) {
    return error as Error;
  }
  throw new Error('the manifest was taken');
}

describe('a secret of a refused manifest', () => {
  it.each([
    ['in a line that is no YAML', `${start}    env:\n    - {name: PASSWORD, value: "${secret}" "oops"}\n`],
    ['in the line before one that is no YAML', `${start}    env:\n    - name: PASSWORD\n      value: ${secret}\n     bad\n`],
    ['in a tag', `${start}    env:\n    - name: PASSWORD\n      value: !${secret}^x y\n`],
    ['in a tag handle', `${start}    env:\n    - name: PASSWORD\n      value: !${secret}!x y\n`],
    ['in an alias', `${start}    env:\n    - name: PASSWORD\n      value: *${secret}\n`],
    ['in a value that its tag does not fit', `${start}    env:\n    - name: PASSWORD\n      value: !!int ${secret}\n`],
    ['in the first line of what is no pod', secret],
    ['in cut JSON', json({ env: [{ name: 'PASSWORD', value: secret }] }).slice(0, -3)],
    ['in JSON with a comma too many', json({ env: [{ name: 'A', value: secret }] }).replace(`"${secret}"`, `"${secret}",,`)],
    ['in JSON without quotes', json({ env: [{ name: 'A', value: secret }] }).replace(`"${secret}"`, secret)],
    ['in place of a list', json({ env: secret })],
    ['in place of an object', json({ env: [`PASSWORD=${secret}`] })],
    ['in the name of a variable', json({ env: [{ name: `PASSWORD=${secret}\n`, value: '' }] })],
    ['in place of a number', json({ terminationMessagePath: '', ports: [{ containerPort: secret }] })],
    ['in a header', json({ livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'A', value: [secret] }] } } })],
    [
      'in an annotation',
      json({}).replace('"name":"web"', `"name":"web","annotations":{"scheduler.alpha.kubernetes.io/tolerations":"[${secret}]"}`),
    ],
  ])('%s is in no message, cause or stack', (_, text) => {
    const error = refusal(text);
    expect(error).toMatchObject({ code: 'ERR_INVALID_MANIFEST' });
    for (let each: unknown = error; each instanceof Error; each = each.cause) {
      expect(`${each.message} ${each.stack}`).not.toContain('hunter2');
      expect(JSON.stringify(each)).not.toContain('hunter2');
    }
  });

  it.each([
    ['the value of a variable', { env: [{ name: 'A', value: 12345678 }] }, '`spec.containers[0].env[0].value`', 'a number'],
    ['a command', { command: [12345678] }, '`spec.containers[0].command[0]`', 'a number'],
    ['an argument', { args: [true] }, '`spec.containers[0].args[0]`', 'a boolean'],
    ['a list', { args: 'x' }, '`spec.containers[0].args`', 'a string'],
  ])('%s: the message names the field, the rule and the type', (_, container, path, type) => {
    const { message } = refusal(json(container));
    expect(message).toContain(`Expected ${path} to be `);
    expect(message).toMatch(new RegExp(`, got ${type}$`));
  });

  it('leaves the place in the text', () => {
    const { message } = refusal(`${start}    env:\n    - {name: PASSWORD, value: "${secret}" "oops"}\n`);
    expect(message).toMatch(
      /^\/etc\/manifests\/web\.yaml: Expected the manifest to be YAML \(.+, line 10, column \d+\), got a string$/,
    );
    expect(refusal(json({}).replace('{"name":"app"', '{\n"name":"app",,')).message).toContain(
      'JSON (wrong at line 2, column 14)',
    );
  });
});
