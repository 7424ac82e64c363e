#!/bin/sh
# Installs recoup @VERSION@ from its tarball: into ~/.local, or --prefix DIR. Needs no root.
#
#   sh install.sh [--prefix DIR]
#
# The tarball and SHA256SUMS are beside this script, or below the URL in RECOUP_INSTALL_URL.
set -eu

version=@VERSION@

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

usage() {
    echo "usage: sh install.sh [--prefix DIR]" >&2
    exit 2
}

download() {
    if command -v curl >/dev/null; then
        curl -fsSL -o "$2" "$1" || fail "could not download $1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1" || fail "could not download $1"
    else
        fail "downloading needs curl or wget"
    fi
}

digest() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1"
    else
        fail "checking the tarball needs sha256sum or shasum"
    fi
}

prefix=
while [ $# -gt 0 ]; do
    case $1 in
        --prefix) [ $# -gt 1 ] || usage; prefix=$2; shift 2 ;;
        --prefix=*) prefix=${1#*=}; shift ;;
        *) usage ;;
    esac
done
[ -n "$prefix" ] || prefix=${HOME:?is not set: use --prefix DIR}/.local
case $prefix in
    /*) ;;
    *) prefix=$(pwd)/$prefix ;;
esac

system=$(uname -s)
machine=$(uname -m)
case $machine in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
esac
[ "$system $machine" = "Linux @MACHINE@" ] ||
    fail "there is no package for $system on $machine, only for Linux on @MACHINE@; with Rust, build it from the source: cargo install --path crates/recoup"

name=recoup-$version-linux-$machine
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ -n "${RECOUP_INSTALL_URL:-}" ]; then
    download "${RECOUP_INSTALL_URL%/}/SHA256SUMS" "$work/SHA256SUMS"
    download "${RECOUP_INSTALL_URL%/}/$name.tar.gz" "$work/$name.tar.gz"
else
    here=$(dirname "$0")
    for file in SHA256SUMS "$name.tar.gz"; do
        [ -f "$here/$file" ] || fail "$here/$file is missing; or set RECOUP_INSTALL_URL to where it is"
        cp "$here/$file" "$work"
    done
fi

wanted=$(sed -n "s/^\([0-9a-f]*\) [ *]$name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$wanted" ] || fail "SHA256SUMS has no line for $name.tar.gz"
found=$(digest "$work/$name.tar.gz")
[ "${found%% *}" = "$wanted" ] ||
    fail "$name.tar.gz is not the file that SHA256SUMS describes; nothing was installed"

# Files are put under other names first, so that a recoup that is running is not disturbed.
(cd "$work" && tar xzf "$name.tar.gz") || fail "could not unpack $name.tar.gz"
(cd "$work/$name" && find . -type f) | while read -r file; do
    mkdir -p "$prefix/${file%/*}" &&
        cp "$work/$name/$file" "$prefix/$file.new.$$" &&
        mv -f "$prefix/$file.new.$$" "$prefix/$file" || exit 1
done || fail "could not write to $prefix; choose another directory with --prefix DIR"

echo "Installed recoup $version: $prefix/bin/recoup"
case :${PATH:-}: in
    *:"$prefix/bin":*) echo "Next: recoup init" ;;
    *)
        echo "$prefix/bin is not on your PATH. Add this line to the profile of your shell:"
        echo "  export PATH=\"$prefix/bin:\$PATH\""
        ;;
esac
