const LIMIT_BYTES = 4096;

/** Counts a target's output and keeps its last 4 KiB, however much there is. */
export class OutputTail {
  private kept: Buffer = Buffer.alloc(0);
  private total = 0;

  /** Bytes seen, kept or not. */
  get bytes(): number {
    return this.total;
  }

  push(chunk: Uint8Array): void {
    this.total += chunk.length;
    // Buffer.concat copies, so that the large buffer under a small chunk is not held.
    const fresh = chunk.subarray(Math.max(0, chunk.length - LIMIT_BYTES));
    const old = this.kept.subarray(Math.max(0, this.kept.length + fresh.length - LIMIT_BYTES));
    this.kept = Buffer.concat([old, fresh]);
  }

  /** At most 4 KiB of printable text; `<binary, N bytes>` if the output is not UTF-8. */
  text(): string {
    const text = decode(this.total > LIMIT_BYTES ? afterCut(this.kept) : this.kept);
    return text === null ? `<binary, ${this.total} bytes>` : printable(text);
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

/** Null if the bytes are not UTF-8; an unfinished last character (the output was cut off) is left out. */
function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}
