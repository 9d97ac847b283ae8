#!/bin/sh
# Runs the whole suite with the workers connecting through pgbouncer in transaction mode (Debian's package).
set -eu
cd "$(dirname "$0")/../.."

if ! command -v pgbouncer >/dev/null && ! test -x /usr/sbin/pgbouncer; then
  sudo=$(test "$(id -u)" = 0 || echo sudo)
  $sudo apt-get update -qq
  # Only the program is wanted, not a service that starts by itself.
  $sudo apt-get install -qq -y --no-install-recommends pgbouncer >/dev/null
  $sudo service pgbouncer stop >/dev/null 2>&1 || true
fi

make -s .venv/.installed
TICKWORK_TEST_PGBOUNCER=1 .venv/bin/python -m pytest --numprocesses 2 --dist loadfile "$@"
