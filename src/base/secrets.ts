/**
 * Text of somebody else without what opens a door: the user and the password of a URL, what its query calls a token, a key, a password or a
 * signature, and the token of a header that a message quotes. For text of bounded length.
 */
export function withoutSecrets(text: string): string {
  return text
    .replace(/:\/\/[^\s/@]{1,300}@/g, '://(hidden)@')
    .replace(/([?&][\w.-]{0,60}(?:token|secret|password|signature|credential|key)[\w.-]{0,60}=)[^\s&"'#]+/gi, '$1(hidden)')
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 (hidden)');
}
