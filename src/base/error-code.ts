/** The code of an error of Node.js, such as `ENOENT` of the file system. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** For `catch`: undefined for an error with one of the codes; throws any other error. */
export function ifCode(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(errorCodeOf(error) ?? '')) throw error;
  };
}
