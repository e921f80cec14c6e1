import { z } from 'zod';
import { parseEgressRule } from '../adapters/executors/egress-rule.js';
import { messageOf } from '../domain/errors.js';

/** The rules of AX_HTTP_ALLOW or AX_HTTP_DENY, separated by commas; each one that is none is named. */
export const egressRules = z
  .string()
  .transform((text) => text.split(',').flatMap((rule) => (rule.trim() === '' ? [] : [rule.trim()])))
  .superRefine((rules, context) => {
    for (const rule of rules) {
      try {
        parseEgressRule(rule);
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) });
      }
    }
  })
  .default([]);
