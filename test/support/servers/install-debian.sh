#!/bin/sh
# Installs Debian packages (the arguments) without starting the services that they bring.
# A machine that has its own policy about starting services keeps it. One at a time: test files run side by side, and apt-get update does not
# wait for its lock.
set -eu

exec 9>"${TMPDIR:-/tmp}/ax-test-install.lock"
flock 9

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt-get -o DPkg::Lock::Timeout=120 update
apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@"
