/**
 * Lays out the directory of one throwaway server, runs its commands there, and ends them with the test run, however that ends.
 *
 * The standard input is a pipe that the test run holds open. When it closes (the run stopped the server, ended,
 * was interrupted or killed), the command in progress and its children get SIGTERM, after 10 s SIGKILL, the directory is
 * removed, and this process exits. A command that ends by itself too early is reported as one line on the standard output.
 *
 * Argument: JSON `{directory, log, files: {name: text}, commands: [[program, ...args], ...], uid?, gid?}`. The directory must not
 * exist yet; it and the files belong to `uid`, as does the server, which is the last command.
 */
import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const { directory, log, files, commands, uid, gid } = JSON.parse(process.argv[2]);
const remaining = [...commands];
let output;
/** The process group of the newest command. */
let group;
let isRunning = false;
let isOver = false;

function layOut() {
  mkdirSync(directory, { mode: 0o700 });
  const paths = Object.keys(files).map((name) => path.join(directory, name));
  paths.forEach((file, index) => writeFileSync(file, Object.values(files)[index], { mode: 0o600 }));
  output = openSync(log, 'a', 0o600);
  if (uid !== undefined) [...paths, log, directory].forEach((file) => chownSync(file, uid, gid));
}

function next() {
  const [program, ...args] = remaining.shift();
  const child = spawn(program, args, {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, TMPDIR: directory, LC_ALL: 'C' },
    stdio: ['ignore', output, output],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid }),
  });
  group = child.pid;
  isRunning = true;
  const end = (how, isSuccess) => {
    isRunning = false;
    if (isOver) leave();
    else if (isSuccess && remaining.length > 0) next();
    else process.stdout.write(`${program} ${how}\n`);
  };
  child.once('error', (error) => end(`could not be started: ${error.message}`, false));
  child.once('exit', (code, signal) => end(`ended with ${signal ?? `exit code ${code}`}`, code === 0));
}

function signalGroup(signal) {
  if (group === undefined) return;
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function leave() {
  signalGroup('SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

function finish() {
  if (isOver) return;
  isOver = true;
  if (!isRunning) leave();
  signalGroup('SIGTERM');
  setTimeout(() => signalGroup('SIGKILL'), 10_000);
}

process.stdout.on('error', finish);
process.stdin.on('end', finish).on('close', finish).on('error', finish).resume();
process.on('SIGTERM', finish).on('SIGINT', finish).on('SIGHUP', finish);
try {
  layOut();
  next();
} catch (error) {
  process.stdout.write(`${directory} could not be laid out: ${error.message}\n`);
}
