# Runs as root on a Debian that was just booted, with the files of a release in /release: installs the package, uses it, kills it,
# upgrades and removes it. Its last line is PROVED.
set -eux
export DEBIAN_FRONTEND=noninteractive HOME=/root

get() { # path: the status line and the rest of an answer
    exec 3<> /dev/tcp/127.0.0.1/8787
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
    cat <&3
    exec 3>&-
}

began=$(date +%s%N)
dpkg -i /release/searchwright_*.deb
systemctl is-active searchwright
get /readyz | head -n 1 | grep ' 200 '
echo "installed and ready after $((($(date +%s%N) - began) / 1000000)) ms"
journalctl -u searchwright --no-pager | grep -o 'http://127.0.0.1:8787/setup/' | sort -u

for document in THIRD-PARTY.txt sbom.cdx.json; do
    [ -s "/usr/share/doc/searchwright/$document" ]
done

# what it may do to the system: 0 is nothing, 10 is everything
exposure=$(systemd-analyze security searchwright --no-pager | sed -n 's/.*Overall exposure level for searchwright.service: \([0-9.]*\).*/\1/p')
echo "exposure by systemd-analyze security: $exposure"
[ "${exposure%.*}" -lt 2 ]
[ "$(stat -c '%U %a' /var/lib/searchwright)" = 'searchwright 700' ]
[ "$(stat -c '%U %a' /var/lib/searchwright/sealing.key)" = 'searchwright 600' ]

searchwrightctl doctor
project=$(searchwrightctl admin project create --name Shop --domain example.com --json | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | head -n 1)
SEARCHWRIGHT_KEY=$(searchwrightctl admin key create --project "$project" --name trial --json | sed -n 's/.*"key": *"\([^"]*\)".*/\1/p')
export SEARCHWRIGHT_KEY
searchwright keywords create 'indoor ferns' > /dev/null

# whoever kills it: it comes back with what was answered
systemctl kill --signal=KILL searchwright
for _ in $(seq 100); do
    sleep 0.1
    if [ "$(systemctl is-active searchwright)" = active ]; then break; fi
done
systemctl is-active searchwright
searchwright keywords list | grep 'indoor ferns'

# an upgrade keeps what is there, the configuration too
echo '# mine' >> /etc/searchwright/config.toml
dpkg -i /release/searchwright_*.deb
systemctl is-active searchwright
searchwright keywords list | grep 'indoor ferns'
tail -n 1 /etc/searchwright/config.toml | grep '# mine'

ls /usr/share/man/man1/searchwright.1.gz /usr/share/bash-completion/completions/searchwright
dpkg -r searchwright
[ ! -e /usr/bin/searchwright ]
[ "$(systemctl is-active searchwright || true)" != active ]
[ -e /etc/searchwright/config.toml ]
dpkg -P searchwright
[ ! -e /etc/searchwright ]
[ -e /var/lib/searchwright/searchwright.sqlite ]
echo PROVED
