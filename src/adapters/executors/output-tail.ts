const DEFAULT_LIMIT_BYTES = 4096;
/** Of small chunks so many are kept apart before they are joined. */
const MAX_PARTS = 64;
/** Up to this share of unreadable characters a text counts as one, in an encoding of its own. */
const MAX_UNREADABLE = 0.25;

/** Counts a target's output and keeps the last bytes of it, 4 KiB unless told, however much there is. */
export class OutputTail {
  private parts: Buffer[] = [];
  private kept = 0;
  private total = 0;

  constructor(private readonly limitBytes = DEFAULT_LIMIT_BYTES) {}

  /** Bytes seen, kept or not. */
  get bytes(): number {
    return this.total;
  }

  push(chunk: Uint8Array): void {
    this.total += chunk.length;
    const part = chunk.subarray(Math.max(0, chunk.length - this.limitBytes));
    // A copy, unless that would take longer than it saves: else the large buffer under a small part would be held.
    const isMostOfIt = part.length * 2 >= part.buffer.byteLength;
    this.parts.push(isMostOfIt ? Buffer.from(part.buffer, part.byteOffset, part.length) : Buffer.from(part));
    this.kept += part.length;
    let first = this.parts[0]?.length ?? 0;
    while (this.kept - first >= this.limitBytes) {
      this.parts.shift();
      this.kept -= first;
      first = this.parts[0]?.length ?? 0;
    }
    if (this.parts.length <= MAX_PARTS) return;
    const joined = this.join();
    this.parts = [joined];
    this.kept = joined.length;
  }

  /** At most as many bytes of printable text; `<binary, N bytes>` if the output is none. */
  text(): string {
    const kept = this.join();
    const text = decode(this.total > this.limitBytes ? afterCut(kept) : kept);
    return text === null ? `<binary, ${this.total} bytes>` : printable(text);
  }

  private join(): Buffer {
    const whole = Buffer.concat(this.parts);
    return whole.subarray(Math.max(0, whole.length - this.limitBytes));
  }
}

/** Control characters other than line feed and tab become "?", so that a log line or a terminal takes no orders from a target. */
export const printable = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '?');

/** Without the rest of a character that was cut in two: at most three continuation bytes. */
function afterCut(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

/** With "?" for a few bytes that are not UTF-8, and null if they are many; an unfinished last character (it was cut off) is left out. */
function decode(bytes: Buffer): string | null {
  const text = new TextDecoder('utf-8').decode(bytes, { stream: true });
  const unreadable = text.match(/\uFFFD/g)?.length ?? 0;
  if (unreadable > text.length * MAX_UNREADABLE) return null;
  return unreadable === 0 ? text : text.replaceAll('\uFFFD', '?');
}
