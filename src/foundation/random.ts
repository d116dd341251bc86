/**
 * Seeded random numbers: the same seed gives the same numbers in any process.
 *
 * Randomness of the project comes from here, or from a host's source through `fromWords`, and always in through a
 * constructor. The generator is pure-rand's xoroshiro128+.
 */
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

/** A source of numbers. */
export interface Random {
  /** An unsigned 32-bit integer. */
  nextUint32(): number;
  /** An integer from 0 up to and without `limit` (at least 1, at most 2^32). */
  nextInt(limit: number): number;
}

/**
 * A generator that depends on nothing but its seed parts. Parts are joined, so `(7, "ids", 1)` and `(7, "ids", 2)`
 * are unrelated streams.
 */
export function seededRandom(...parts: readonly (string | number)[]): Random {
  const words = hashWords(parts.join("\u0000"));
  const generator = xoroshiro128plusFromState(words);
  return fromWords(() => generator.next() >>> 0);
}

/** Wraps a source of unsigned 32-bit integers, such as the host's cryptographic one. */
export function fromWords(nextUint32: () => number): Random {
  return {
    nextUint32,
    nextInt: (limit) => Math.floor((nextUint32() / 0x1_0000_0000) * limit),
  };
}

/**
 * Four 32-bit words of a text (cyrb128). The state of a generator, not a digest: it spreads close seeds apart and
 * promises nothing else.
 */
function hashWords(text: string): number[] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ unit, 597399067);
    b = c ^ Math.imul(b ^ unit, 2869860233);
    c = d ^ Math.imul(c ^ unit, 951274213);
    d = a ^ Math.imul(d ^ unit, 2716044179);
  }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  const mixed = a ^ b ^ c ^ d;
  return [mixed, b ^ mixed, c ^ mixed, d ^ mixed];
}
