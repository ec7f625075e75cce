#!/bin/sh
# Installs Searchwright from a released archive, after it has verified it:
#
#   sh install.sh                     # into /usr/local/bin as root, else into ~/.local/bin
#   sh install.sh --to FOLDER
#   sh install.sh --from URL-OR-FOLDER  # where the files of the release are
#
# It verifies the signature of the checksums (minisign, with the key below) and the checksum of the archive, and
# runs and installs nothing of an archive before both are right. It needs minisign, or openssl 3, and curl or wget.
set -eu

version='@VERSION@'
public_key='@PUBLIC_KEY@'
from="https://github.com/searchwright/searchwright/releases/download/v$version"
to=

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
        --to) to=${2:?--to needs a folder}; shift 2 ;;
        --from) from=${2:?--from needs an address or a folder}; shift 2 ;;
        -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail "unknown argument $1; see --help" ;;
    esac
done
if [ -z "$to" ]; then
    if [ "$(id -u)" = 0 ]; then to=/usr/local/bin; else to=$HOME/.local/bin; fi
fi

case "$(uname -s) $(uname -m)" in
    'Linux x86_64') platform=x86_64-linux ;;
    'Linux aarch64') platform=aarch64-linux ;;
    *) fail "there is no archive for $(uname -s) on $(uname -m); build it: https://github.com/searchwright/searchwright" ;;
esac
name=searchwright-$version-$platform
case $public_key in
    @*) fail "this copy has no key to verify with; take install.sh from the release" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
    case $from in
        https://* | http://127.0.0.1:* | http://localhost:*)
            if command -v curl > /dev/null; then
                curl --proto-redir =https -fsSL --retry 3 -o "$work/$1" "$from/$1" || fail "$from/$1 could not be fetched"
            elif command -v wget > /dev/null; then
                wget -q -O "$work/$1" "$from/$1" || fail "$from/$1 could not be fetched"
            else
                fail "curl or wget is needed"
            fi
            ;;
        *://*) fail "$from is not https" ;;
        *) cp -- "$from/$1" "$work/$1" || fail "$from/$1 could not be read" ;;
    esac
}

# The format of minisign: a signature with Ed25519 of the BLAKE2b hash of the file, and one of that and the comment.
verify_with_openssl() {
    cd "$work"
    printf '%s' "$public_key" | base64 -d > key
    sed -n 2p SHA256SUMS.minisig | base64 -d > signature
    sed -n 4p SHA256SUMS.minisig | base64 -d > comment.signature
    [ "$(head -c 2 key)" = Ed ] && [ "$(head -c 2 signature)" = ED ] || return 1
    [ "$(wc -c < key)" = 42 ] && [ "$(wc -c < signature)" = 74 ] && [ "$(wc -c < comment.signature)" = 64 ] || return 1
    { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -c 32 key; } > key.der
    tail -c 64 signature > signature.only
    openssl dgst -blake2b512 -binary SHA256SUMS > hash
    { cat signature.only; sed -n '3s/^trusted comment: //p' SHA256SUMS.minisig | tr -d '\n'; } > commented
    openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in hash -sigfile signature.only > /dev/null 2>&1 &&
        openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in commented -sigfile comment.signature > /dev/null 2>&1
}

for file in SHA256SUMS SHA256SUMS.minisig "$name.tar.gz"; do
    fetch "$file"
done
if command -v minisign > /dev/null; then
    minisign -Vq -P "$public_key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" > /dev/null 2>&1 ||
        fail "the signature of SHA256SUMS is wrong; nothing was installed"
elif openssl version 2> /dev/null | grep -q '^OpenSSL [3-9]'; then
    (verify_with_openssl) || fail "the signature of SHA256SUMS is wrong; nothing was installed"
else
    fail "minisign or openssl 3 is needed to verify the signature; nothing was installed"
fi
# the comment is signed too: an older release under the name of this one is refused
grep -qx "trusted comment: searchwright $version" "$work/SHA256SUMS.minisig" ||
    fail "the signature is of another version; nothing was installed"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
actual=$(sha256sum "$work/$name.tar.gz" | cut -d ' ' -f 1)
[ -n "$expected" ] && [ "$expected" = "$actual" ] ||
    fail "the checksum of $name.tar.gz is wrong; nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work" "$name/searchwright"
mkdir -p "$to"
# renamed into place, so that a program that runs is not written over
install -m 0755 "$work/$name/searchwright" "$to/.searchwright.new"
mv -f "$to/.searchwright.new" "$to/searchwright"
echo "searchwright $version is $to/searchwright"
case ":$PATH:" in
    *":$to:"*) ;;
    *) echo "Put it on the PATH: export PATH=\"$to:\$PATH\"" ;;
esac
echo "First findings in a minute: searchwright try https://example.com"
