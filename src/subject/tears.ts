/**
 * Where a line that is appended to a file tears.
 *
 * A kernel copies a write page by page, so a killed process leaves a line that ends at a 4 KB offset of the file. A line
 * that crosses no such offset is torn in its middle instead: nothing promises that it cannot be, and a short write can
 * stop anywhere. And every line is torn before its line feed too, where it is whole JSON and still not committed.
 */
const PAGE_BYTES = 4096;

/** A commit of a megabyte crosses hundreds of pages; that many of them, the first and the last included, are torn. */
const TEARS_MAX = 8;

/** Offsets of the file at which a line between two sizes is torn, rising; at least one. */
export function tearsOf(sizeBefore: number, sizeAfter: number): readonly number[] {
  const beforeLineFeed = sizeAfter - 1;
  const offsets = pageOffsets(sizeBefore, sizeAfter).filter((offset) => offset < beforeLineFeed);
  return beforeLineFeed > sizeBefore ? [...offsets, beforeLineFeed] : offsets;
}

function pageOffsets(sizeBefore: number, sizeAfter: number): readonly number[] {
  const pages: number[] = [];
  const first = (Math.floor(sizeBefore / PAGE_BYTES) + 1) * PAGE_BYTES;
  for (let offset = first; offset < sizeAfter; offset += PAGE_BYTES) pages.push(offset);
  if (pages.length === 0) return [Math.floor((sizeBefore + sizeAfter) / 2)];
  if (pages.length <= TEARS_MAX) return pages;
  const step = (pages.length - 1) / (TEARS_MAX - 1);
  return Array.from({ length: TEARS_MAX }, (_, index) => pages[Math.round(index * step)] ?? first);
}
