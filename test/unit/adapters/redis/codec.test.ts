import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, decodeReport, encode } from '../../../../src/adapters/redis/codec.js';
import { STATUSES } from '../../../../src/domain/execution.js';
import { NO_HOOKS } from '../../../../src/domain/hooks.js';
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { buildEvent, buildMessage, buildReport, buildTask, snapshotOf } from '../../../support/builders.js';

type Json = Record<string, unknown>;

/** Every path of names to a member of `value`, down to a depth. */
const pathsOf = (value: unknown, depth: number): string[][] =>
  depth === 0 || typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, member]) => [
        [name],
        ...pathsOf(member, depth - 1).map((path) => [name, ...path]),
      ]);

/** A copy of `value` with another member at the end of `path`, or without it. */
function changed(value: object, path: readonly string[], member?: unknown): Json {
  const copy = structuredClone(value) as Json;
  const parent = path.slice(0, -1).reduce((it, name) => it[name] as Json, copy);
  const last = path.at(-1) ?? '';
  if (member === undefined) delete parent[last];
  else parent[last] = member;
  return copy;
}

const text = fc.string({ unit: 'binary' });

describe('messages', () => {
  it('come out as they went in', () => {
    fc.assert(
      fc.property(text, fc.jsonValue(), fc.integer(), fc.boolean(), (name, params, slot, isMisfire) => {
        const task = buildTask({ name, params: params as null });
        const event = buildEvent({ taskId: task.id, slot, isMisfire, rangeEnd: isMisfire ? slot : null });
        const message = buildMessage({ event, task: snapshotOf(task), generationFloor: 3 });
        expect(decodeMessage(encode(message))).toEqual(JSON.parse(JSON.stringify(message)));
      }),
    );
  });

  it('carry the own params of a manual run', () => {
    const message = buildMessage({
      event: buildEvent({ taskId: 't', params: { a: [1] } }),
      task: snapshotOf(buildTask({ id: 't' })),
    });
    expect(decodeMessage(encode(message)).event.params).toEqual({ a: [1] });
  });

  const message = buildMessage();
  const required = pathsOf(message, 2).filter(([, name]) => name !== 'rangeEnd' && name !== 'hooks');

  it.each(required)('are refused without %s %s', (...path) => {
    expect(() => decodeMessage(JSON.stringify(changed(message, path.filter(Boolean))))).toThrow(
      /missing or not/,
    );
  });

  it.each(required.filter(([, name]) => name !== 'params'))('are refused with a list as %s %s', (...path) => {
    const broken = changed(message, path.filter(Boolean), []);
    expect(() => decodeMessage(JSON.stringify(broken))).toThrow(/missing or not/);
  });

  it.each(Object.keys(DEFAULT_POLICY))(
    'get the default of policy.%s if they are older, and are refused if it is wrong',
    (name) => {
      const path = ['task', 'policy', name];
      expect(decodeMessage(JSON.stringify(changed(message, path))).task.policy).toEqual(DEFAULT_POLICY);
      expect(() => decodeMessage(JSON.stringify(changed(message, path, { a: 1 })))).toThrow(`policy.${name}`);
    },
  );

  it('of older nodes have no hooks, and broken hooks are refused', () => {
    const hooks = { pre: null, post: { on: 'never' } };
    expect(decodeMessage(JSON.stringify(changed(message, ['task', 'hooks']))).task.hooks).toEqual(NO_HOOKS);
    expect(() => decodeMessage(JSON.stringify(changed(message, ['task', 'hooks'], hooks)))).toThrow(
      'task.hooks',
    );
  });

  it('keep members that only a newer node knows', () => {
    const newer = { ...message, event: { ...message.event, colour: 'blue' } };
    expect(decodeMessage(JSON.stringify(newer))).toEqual(newer);
  });

  it('are refused when event and task do not belong together', () => {
    const mixed = { ...message, task: { ...message.task, id: 'another' } };
    expect(() => decodeMessage(JSON.stringify(mixed))).toThrow('event.taskId');
  });

  it('are refused as an Error, whatever text it is', () => {
    const anyText = fc.oneof(
      text,
      fc.json(),
      fc.constantFrom('', 'null', '[]', '{"event":null}', '"x"', '1e999'),
    );
    fc.assert(
      fc.property(anyText, (json) => {
        expect(() => decodeMessage(json)).toThrow(Error);
        expect(() => decodeReport(json)).toThrow(Error);
      }),
    );
  });
});

describe('reports', () => {
  it('come out as they went in', () => {
    const evidence = fc.dictionary(text, fc.oneof(text, fc.boolean(), fc.integer()));
    fc.assert(
      fc.property(fc.constantFrom(...STATUSES), fc.option(text), evidence, (status, message, facts) => {
        const report = buildReport({ status, message, evidence: facts, finishedAt: 7 });
        expect(decodeReport(encode(report))).toEqual(JSON.parse(JSON.stringify(report)));
      }),
    );
  });

  const report = buildReport();

  it.each(pathsOf(report, 2).filter(([first]) => first !== 'evidence'))(
    'are refused without %s %s',
    (...path) => {
      expect(() => decodeReport(JSON.stringify(changed(report, path.filter(Boolean))))).toThrow(
        /missing or not/,
      );
    },
  );

  it('are refused with a status that ax does not have', () => {
    expect(() => decodeReport(JSON.stringify({ ...report, status: 'maybe' }))).toThrow('report.status');
  });
});
