/** Longer texts are worth a call into native code. */
const SHORT_TEXT = 32;
/** Most that a tag, a length or a number takes. */
const NUMBER_BYTES = 11;

/**
 * Writes the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/) into one buffer, which grows and is used
 * again for the next message. Lengths are written after what they measure, which is moved if they turn out to need more than a byte.
 */
export class ProtobufWriter {
  private bytes = Buffer.allocUnsafe(1 << 16);
  private at = 0;

  /** A copy of what was written; the writer is empty afterwards. */
  finish(): Buffer {
    const written = Buffer.from(this.bytes.subarray(0, this.at));
    this.at = 0;
    return written;
  }

  /** The tag of a message, and room for its length; the place to `end` it at. */
  begin(tag: number): number {
    this.ensure(NUMBER_BYTES);
    this.bytes[this.at++] = tag;
    return ++this.at;
  }

  end(start: number): void {
    const { bytes, at } = this;
    const length = at - start;
    if (length < 0x80) {
      bytes[start - 1] = length;
      return;
    }
    const more = length < 0x4000 ? 1 : length < 0x200000 ? 2 : 3;
    this.ensure(more);
    this.bytes.copyWithin(start + more, start, at);
    this.at = start - 1;
    this.varint(length);
    this.at = at + more;
  }

  /** Bytes that were written before, tag and length included. */
  raw(written: Uint8Array): void {
    this.ensure(written.length);
    this.bytes.set(written, this.at);
    this.at += written.length;
  }

  /** Tag and number, below 2^28 both. */
  uint(tag: number, value: number): void {
    this.ensure(NUMBER_BYTES);
    this.tag(tag);
    this.varint(value);
  }

  int64(tag: number, value: number): void {
    this.ensure(NUMBER_BYTES);
    this.tag(tag);
    if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) this.varint(value);
    else this.bigVarint(BigInt.asUintN(64, BigInt(value)));
  }

  double(tag: number, value: number): void {
    this.ensure(NUMBER_BYTES);
    this.tag(tag);
    this.at = this.bytes.writeDoubleLE(value, this.at);
  }

  fixed32(tag: number, value: number): void {
    this.ensure(NUMBER_BYTES);
    this.tag(tag);
    this.at = this.bytes.writeUInt32LE(value, this.at);
  }

  /** `high` and `low` are its 32-bit halves. */
  fixed64(tag: number, high: number, low: number): void {
    this.fixed32(tag, low);
    this.at = this.bytes.writeUInt32LE(high, this.at);
  }

  /** Bytes by their hex digits. */
  hex(tag: number, digits: string): void {
    this.ensure(digits.length + NUMBER_BYTES);
    this.tag(tag);
    const length = this.bytes.write(digits, this.at + 1, 'hex');
    this.bytes[this.at] = length;
    this.at += 1 + length;
  }

  text(tag: number, value: string): void {
    this.ensure(3 * value.length + NUMBER_BYTES);
    this.tag(tag);
    if (value.length <= SHORT_TEXT && this.ascii(value)) return;
    this.varint(Buffer.byteLength(value));
    this.at += this.bytes.write(value, this.at);
  }

  /** Whether the text was one of ASCII characters alone and is written now. */
  private ascii(value: string): boolean {
    const { bytes } = this;
    const { length } = value;
    const from = this.at + 1;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[from + i] = code;
    }
    bytes[this.at] = length;
    this.at = from + length;
    return true;
  }

  private tag(tag: number): void {
    if (tag < 0x80) this.bytes[this.at++] = tag;
    else this.varint(tag);
  }

  private varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.at++] = rest;
  }

  private bigVarint(value: bigint): void {
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) this.bytes[this.at++] = Number(rest & 0x7fn) | 0x80;
    this.bytes[this.at++] = Number(rest);
  }

  private ensure(more: number): void {
    if (this.at + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.at + more));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }
}
