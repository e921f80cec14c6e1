import { describe, expect, it } from 'vitest';
import { messageFor } from '../../../src/application/message-for.js';
import { laneOf, lanesOf } from '../../../src/domain/lane.js';
import { buildEvent, buildTask } from '../../support/builders.js';
import { commandOf } from '../../support/shell-peer.js';

describe('lanes', () => {
  const plain = buildTask({ pool: 'blue' });
  const shell = { ...plain, executor: commandOf('true') };

  it('keep shell tasks from workers that do not allow shell', () => {
    expect(lanesOf(['blue', 'red'], false)).toContain(laneOf(plain));
    expect(lanesOf(['blue', 'red'], false)).not.toContain(laneOf(shell));
  });

  it('bring all tasks of a pool to workers of that pool that allow shell', () => {
    expect(lanesOf(['blue', 'red'], true)).toEqual(expect.arrayContaining([laneOf(plain), laneOf(shell)]));
    expect(lanesOf(['red'], true)).not.toContain(laneOf(shell));
  });

  it('are what a message is published to', () => {
    expect(messageFor(buildEvent(), plain, 0, 0, 'epoch').task.pool).toBe('blue');
    expect(messageFor(buildEvent(), shell, 0, 0, 'epoch').task.pool).toBe('blue#shell');
  });
});
