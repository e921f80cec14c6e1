/**
 * Runs the commands of one throwaway server and ends them with the test run, however that ends.
 *
 * The standard input is a pipe that the test run holds open. When it closes (the run stopped the server, ended,
 * was interrupted or killed), the command in progress and its children get SIGTERM, after 10 s SIGKILL, the directory is
 * removed, and this process exits. A command that ends by itself too early is reported as one line on the standard output.
 *
 * Argument: JSON `{directory, log, uid?, gid?, commands: [[program, ...args], ...]}`; the last command is the server.
 */
import { spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';

const { directory, log, uid, gid, commands } = JSON.parse(process.argv[2]);
const output = openSync(log, 'a');
const remaining = [...commands];
let running;
let isOver = false;

function next() {
  const [program, ...args] = remaining.shift();
  const child = spawn(program, args, {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, TMPDIR: directory, LC_ALL: 'C' },
    stdio: ['ignore', output, output],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid }),
  });
  running = child;
  let ended = false;
  const end = (how, isSuccess) => {
    if (ended) return;
    ended = true;
    running = undefined;
    if (isOver) leave();
    else if (isSuccess && remaining.length > 0) next();
    else process.stdout.write(`${program} ${how}\n`);
  };
  child.once('error', (error) => end(`could not be started: ${error.message}`, false));
  child.once('exit', (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`, code === 0));
}

function signalGroup(signal) {
  if (running?.pid === undefined) return;
  try {
    process.kill(-running.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function leave() {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

function finish() {
  if (isOver) return;
  isOver = true;
  if (running === undefined) leave();
  signalGroup('SIGTERM');
  setTimeout(() => signalGroup('SIGKILL'), 10_000);
}

process.stdout.on('error', finish);
process.stdin.on('end', finish).on('close', finish).on('error', finish).resume();
process.on('SIGTERM', finish).on('SIGINT', finish).on('SIGHUP', finish);
next();
