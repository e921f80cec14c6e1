import { z } from 'zod';

export const whole = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d+$/, 'is not a whole number')
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be from ${min} to ${max}`)
    .default(fallback);

export const url = (protocols: readonly string[], example: string) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `give a URL such as ${example}`,
    );

export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const name = z.string().regex(NAME, 'use 1 to 64 letters, digits, ".", "_" or "-"');
