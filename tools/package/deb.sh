#!/usr/bin/env bash
# Builds the Debian package of one processor, without root. The same input gives the same bytes.
#
#   tools/package/deb.sh PROGRAM GENERATOR VERSION ARCHITECTURE FILE.deb
#
# VERSION has a Debian revision, such as 0.1.0-1. PROGRAM is for ARCHITECTURE (amd64, arm64), GENERATOR for this
# machine: see tree.sh. SOURCE_DATE_EPOCH is the time of all files. COMPRESS=gzip is quicker than xz. It needs dpkg-deb.
set -euo pipefail
program=$1 generator=$2 version=$3 architecture=$4 out=$5
here=$(cd "$(dirname "$0")" && pwd)
# DEBFULLNAME and DEBEMAIL name the person who builds it for others, as for all tools of Debian.
maintainer="${DEBFULLNAME:-the authors of Orbweaver} <${DEBEMAIL:-orbweaver@localhost}>"
export DPKG_DEB_THREADS_MAX=1 # with several, the bytes depend on their number
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}
umask 022
mkdir -p "$(dirname "$out")"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

"$here/tree.sh" "$program" "$generator" "$root" /usr
doc=$root/usr/share/doc/orbweaver
gzip -n -9 -c "$doc/CHANGELOG.md" >"$doc/changelog.gz"
rm "$doc/CHANGELOG.md"
sed -i 's,CHANGELOG\.md),changelog.gz),' "$doc/README.md" "$doc/docs/guide/install.md"
gzip -n -9 >"$doc/changelog.Debian.gz" <<END
orbweaver ($version) unstable; urgency=medium

  * Package of the release. changelog.gz has its changes.

 -- $maintainer  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: orbweaver

Files: *
Copyright: $(date +%Y -d "@$SOURCE_DATE_EPOCH") the authors of Orbweaver
License: Apache-2.0
 On Debian systems the text of the licence is in /usr/share/common-licenses/Apache-2.0.
Comment: The program is linked with modules of other authors.
 THIRD-PARTY-LICENCES.txt beside this file has their licences.
END
mkdir -p "$root/etc/orbweaver" "$root/DEBIAN"
size=$(du -sk --apparent-size "$root/usr" | cut -f1)
cat >"$root/DEBIAN/control" <<END
Package: orbweaver
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: adduser
Recommends: ca-certificates
Suggests: bash-completion
Section: web
Priority: optional
Description: polite and complete web crawler
 Orbweaver crawls millions of hosts from one machine into WARC files, for
 archives, search engines and researchers. It obeys robots.txt, keeps a delay
 for each site and address, and resumes after a kill or a power cut.
END
install -m 755 "$here/postinst" "$here/prerm" "$here/postrm" "$root/DEBIAN/"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group "-Z${COMPRESS:-xz}" --build "$root" "$out" >/dev/null
