#!/bin/sh
# Runs `make demo` and `make test` of the last commit on a Debian 12 that has Python 3.11.2, make and git, and nothing else.
# It needs root, 6 GB in TMPDIR (or /var/tmp) and a quarter of an hour. Other targets of make can be given instead.
set -eu
cd "$(dirname "$0")/../.."

if test "${1:-}" != inside; then
  folder=$(mktemp -d "${TMPDIR:-/var/tmp}/bare-debian.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 1' HUP INT TERM
  # Processes and mounts end with the namespaces, so that nothing but the folder is left to remove.
  unshare --mount --pid --fork --kill-child "$0" inside "$folder" "${@:-demo test}"
  exit
fi
shift
root=$1
shift
home=$root/home/developer

make_debian() {
  if ! command -v debootstrap >/dev/null; then
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends debootstrap >/dev/null
  fi
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' | grep '/debian/$' | head -n 1)
  debootstrap --variant=minbase --include=python3,python3-venv,make,git,ca-certificates bookworm "$root" "$mirror" >/dev/null
  mount -t proc proc "$root/proc"
  mkdir -p "$root/dev/shm"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  chmod 755 "$root"
  chroot "$root" useradd --create-home developer
}

# Whatever this machine needs to reach the registries of Python and Node: settings, certificates, folders of packages.
pass_settings_on() {
  export -p | grep -Ei '^export ([a-z]+_proxy|(pip|uv|npm_config|node|ssl|requests|curl)_[a-z_]+)=' >"$home/settings" || true
  for file in etc/pip.conf etc/uv/uv.toml etc/hosts etc/resolv.conf etc/ssl/certs/ca-certificates.crt; do
    if test -e "/$file"; then
      mkdir -p "$(dirname "$root/$file")"
      cp -L "/$file" "$root/$file"
    fi
  done
  for file in .config/pip/pip.conf .pip/pip.conf .config/uv/uv.toml .npmrc; do
    if test -e "$HOME/$file"; then
      mkdir -p "$(dirname "$home/$file")"
      cp "$HOME/$file" "$home/$file"
    fi
  done
  # An index on disk names its files from where it lies, so its neighbours come along.
  for place in $(cat "$home/settings" /etc/pip.conf "$HOME/.config/pip/pip.conf" 2>/dev/null | grep -o '/[^ '"'\"]*"); do
    neighbours=$(dirname "$(realpath -m "$place")")
    if test -d "$place" && ! mountpoint -q "$root$neighbours" && test "$neighbours" != /; then
      mkdir -p "$root$neighbours"
      mount --bind -o ro "$neighbours" "$root$neighbours"
    fi
  done
}

make_debian
pass_settings_on
git clone --quiet --no-hardlinks . "$home/tickwork"
chroot "$root" chown -R developer:developer /home/developer
for target in $*; do
  echo "make $target, on Debian $(cat "$root/etc/debian_version") with $(chroot "$root" python3 --version)"
  chroot --userspec=developer:developer "$root" env -i HOME=/home/developer PATH=/usr/local/bin:/usr/bin:/bin \
    sh -c '. ~/settings && cd ~/tickwork && exec make "$1"' sh "$target"
done
