// The random numbers of numpy.random.default_rng(seed), bit for bit, so that a run on this page is
// `skills.rollout(skill, start, np.random.default_rng(seed))`, state for state.

/**
 * numpy's SeedSequence: eight words of state from any number of words of entropy.
 * @param {number[]} entropy
 */
function seedWords(entropy) {
  const pool = [0, 0, 0, 0];
  let constant = 0x43b0d7e5;
  const hash = (/** @type {number} */ word) => {
    word ^= constant;
    constant = Math.imul(constant, 0x931e8875);
    word = Math.imul(word, constant);
    return word ^ (word >>> 16);
  };
  const mix = (/** @type {number} */ x, /** @type {number} */ y) => {
    const mixed = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0;
    return mixed ^ (mixed >>> 16);
  };
  for (let i = 0; i < 4; i++) pool[i] = hash(i < entropy.length ? entropy[i] : 0);
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
  for (let from = 4; from < entropy.length; from++)
    for (let to = 0; to < 4; to++) pool[to] = mix(pool[to], hash(entropy[from]));
  const words = [];
  let last = 0x8b51f9dd;
  for (let i = 0; i < 8; i++) {
    let word = pool[i % 4] ^ last;
    last = Math.imul(last, 0x58f38ded);
    word = Math.imul(word, last);
    words.push((word ^ (word >>> 16)) >>> 0);
  }
  return words;
}

/**
 * The upper half of the product of two 32-bit numbers.
 * @param {number} a
 * @param {number} b
 */
function upperHalf(a, b) {
  const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  return (a1 * b1 + Math.floor(middle / 65536) + (((middle & 0xffff) + a0 * b1) / 65536)) >>> 0;
}

/** PCG64 (XSL-RR), numpy's default generator. 128-bit numbers are four words, the lowest first. */
export class Random {
  /** @param {number | number[]} entropy A seed below 2^32, or a list of them. */
  constructor(entropy) {
    const w = seedWords(Array.isArray(entropy) ? entropy : [entropy]);
    this.s = new Uint32Array(4);
    this.increment = [
      (w[6] << 1) | 1,
      (w[7] << 1) | (w[6] >>> 31),
      (w[4] << 1) | (w[7] >>> 31),
      (w[5] << 1) | (w[4] >>> 31),
    ].map((word) => word >>> 0);
    this.advance();
    this.add(w[2], w[3], w[0], w[1]);
    this.advance();
  }

  /**
   * Add a 128-bit number, the lowest word first, to the state.
   * @param {number} a @param {number} b @param {number} c @param {number} d
   */
  add(a, b, c, d) {
    let sum = this.s[0] + a;
    this.s[0] = sum >>> 0;
    sum = this.s[1] + b + (sum > 0xffffffff ? 1 : 0);
    this.s[1] = sum >>> 0;
    sum = this.s[2] + c + (sum > 0xffffffff ? 1 : 0);
    this.s[2] = sum >>> 0;
    this.s[3] = (this.s[3] + d + (sum > 0xffffffff ? 1 : 0)) >>> 0;
  }

  /** state = state * 0x2360ed051fc65da44385df649fccf645 + increment */
  advance() {
    const a = this.s[0], b = this.s[1], c = this.s[2], d = this.s[3];
    const k = 0x9fccf645, l = 0x4385df64, m = 0x1fc65da4, n = 0x2360ed05;
    this.s[0] = Math.imul(a, k) >>> 0;
    let sum = upperHalf(a, k) + (Math.imul(a, l) >>> 0) + (Math.imul(b, k) >>> 0);
    this.s[1] = sum >>> 0;
    sum = Math.floor(sum / 4294967296) + upperHalf(a, l) + upperHalf(b, k)
      + (Math.imul(a, m) >>> 0) + (Math.imul(b, l) >>> 0) + (Math.imul(c, k) >>> 0);
    this.s[2] = sum >>> 0;
    this.s[3] = (Math.floor(sum / 4294967296) + upperHalf(a, m) + upperHalf(b, l) + upperHalf(c, k)
      + Math.imul(a, n) + Math.imul(b, m) + Math.imul(c, l) + Math.imul(d, k)) >>> 0;
    this.add(this.increment[0], this.increment[1], this.increment[2], this.increment[3]);
  }

  /** A number in [0, 1), as Generator.random() returns it. */
  next() {
    this.advance();
    let low = this.s[0] ^ this.s[2];
    let high = this.s[1] ^ this.s[3];
    let shift = this.s[3] >>> 26;
    if (shift >= 32) {
      const swapped = low;
      low = high;
      high = swapped;
      shift -= 32;
    }
    if (shift) {
      const lower = (low >>> shift) | (high << (32 - shift));
      high = (high >>> shift) | (low << (32 - shift));
      low = lower;
    }
    return ((high >>> 0) * 2097152 + (low >>> 11)) / 9007199254740992;
  }
}
