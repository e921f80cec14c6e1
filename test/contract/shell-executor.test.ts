import { ShellExecutor } from '../../src/adapters/executors/shell/shell-executor.js';
import { ShellPeer } from '../support/shell-peer.js';
import { executorSuite } from './executor.suite.js';

executorSuite('ShellExecutor', async (clock) => ({
  executor: new ShellExecutor({
    clock,
    killGraceMs: 60_000,
    cwd: '/',
    engine: 'docker',
    environment: { PATH: process.env['PATH'] ?? '' },
  }),
  peer: await ShellPeer.open(),
}));
