import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputTail } from '../../../../src/adapters/executors/output-tail.js';

const tailOf = (...chunks: (string | Uint8Array)[]): OutputTail => {
  const tail = new OutputTail();
  for (const chunk of chunks) tail.push(Buffer.from(chunk));
  return tail;
};

describe('OutputTail', () => {
  it('is empty without output', () => {
    expect(tailOf().text()).toBe('');
    expect(tailOf().bytes).toBe(0);
  });

  it('keeps text however it was cut into chunks', () => {
    const bytes = Buffer.from('größer 名前 🚀');
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(tailOf(bytes.subarray(0, at), bytes.subarray(at)).text()).toBe('größer 名前 🚀');
    }
  });

  it('keeps the last 4 KiB and counts all', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 6000 }), { maxLength: 6 }),
        (texts) => {
          const whole = texts.join('');
          const tail = tailOf(...texts);
          expect(tail.text()).toBe(whole.slice(-4096));
          expect(tail.bytes).toBe(whole.length);
        },
      ),
    );
  });

  it('leaves out characters that were cut at either end', () => {
    // 1500 times 3 bytes: the cut falls into a character.
    expect(tailOf('名'.repeat(1500)).text()).toBe('名'.repeat(1365));
    expect(tailOf(Buffer.from('done 名').subarray(0, 7)).text()).toBe('done ');
  });

  it('never gives more than 4 KiB, and never control characters but line feed and tab', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 6 }), (chunks) => {
        const text = tailOf(...chunks).text();
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
        expect(text).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });

  it('names binary output by its whole size', () => {
    expect(tailOf(Buffer.from([0x1f, 0x8b, 0x08])).text()).toBe('<binary, 3 bytes>');
    expect(tailOf(Buffer.alloc(5000, 0xff)).text()).toBe('<binary, 5000 bytes>');
  });

  it('takes the power from terminal sequences', () => {
    expect(tailOf('a\u001b[2Jb\u0000c\u009bd\r\ne\tf').text()).toBe('a?[2Jb?c?d\ne\tf');
  });

  it('does not hold on to the buffers that it saw', () => {
    const chunk = Buffer.from('first');
    const tail = tailOf();
    tail.push(chunk);
    chunk.fill('x');
    expect(tail.text()).toBe('first');
  });
});
