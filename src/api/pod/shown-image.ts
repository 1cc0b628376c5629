/** No real name of an image is longer; a pattern is not tried on what is. */
export const longestImage = 4096;
const shown = 255;

/** An image's name as people and the server are told it: shortened where it is longer than any image's name. */
export function shownImage(image: string): string {
  return image.length > longestImage ? `${image.slice(0, shown)}…` : image;
}
