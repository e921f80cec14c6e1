/**
 * Removes the containers of a test run when the run ends, however it ends: when the standard input closes, which is a pipe that
 * the run holds open.
 *
 * Argument: JSON `{label}`; every container with this label (`name=value`) is killed and removed, with its volumes.
 */
const { label } = JSON.parse(process.argv[2]);
let isOver = false;

async function finish() {
  if (isOver) return;
  isOver = true;
  const { getContainerRuntimeClient } = await import('testcontainers');
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const containers = await dockerode.listContainers({ all: true, filters: { label: [label] } });
  await Promise.all(containers.map(({ Id }) => dockerode.getContainer(Id).remove({ force: true, v: true })));
  process.exit(0);
}

process.stdin.on('end', finish).on('close', finish).on('error', finish).resume();
process.on('SIGTERM', finish).on('SIGINT', finish).on('SIGHUP', finish);
