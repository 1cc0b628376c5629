// Reads a stream of changes until it is killed: node bench/debug/reader.ts URL. Prints a line when the first part is there.
const { body } = await fetch(process.argv[2] ?? '');
let parts = 0;
for await (const _ of body ?? []) {
  if (parts === 0) console.log('reading');
  parts += 1;
}
