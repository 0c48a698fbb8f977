#!/usr/bin/env bash
# Builds a release of the newest commit: an archive and an SBOM for each platform, and SHA256SUMS.
#
#   tools/release.sh DIR [PLATFORM...]     writes the release to DIR
#   tools/release.sh --check [PLATFORM...] builds it twice and fails if a byte differs
#
# The program is built from a clone, so changes that are not committed have no effect, and the go command stamps the
# commit. It is static. Everything that could differ between two builds is fixed: paths (-trimpath), times
# (SOURCE_DATE_EPOCH, the time of the commit), owners, order. The same Go version and the same GNU tar, gzip and
# Info-ZIP give the same bytes. VERSION overrides the version of cmd/orbweaver.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC
umask 022

release() {
	local out=$1 version work platform os arch name program
	shift
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	rm -f "$out"/orbweaver-* "$out"/SHA256SUMS
	work=$(mktemp -d -p "$temporary")
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct "$commit")}
	git clone --quiet --shared --no-tags --no-checkout . "$work/source"
	git -C "$work/source" checkout --quiet --detach "$commit"
	cd "$work/source"
	version=${VERSION:-$(sed -n 's/^.*version *= "\(.*\)"$/\1/p' cmd/orbweaver/version.go)}
	# The SBOM names the sums of the program that made it, so that program is built in the same way.
	CGO_ENABLED=0 "$go" build -modfile=tools/devtools/go.mod -trimpath -buildvcs=false -o "$work/bin/cyclonedx-gomod" \
		github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
	for platform in "$@"; do
		os=${platform%/*} arch=${platform#*/}
		name=orbweaver-$version-$os-$arch
		program=orbweaver
		[ "$os" != windows ] || program=orbweaver.exe
		mkdir "$work/$name"
		CGO_ENABLED=0 GOOS=$os GOARCH=$arch "$go" build -trimpath -buildvcs=true \
			-ldflags "-s -w -X main.version=$version" -o "$work/$name/$program" ./cmd/orbweaver
		cp LICENSE README.md "$work/$name/"
		GOOS=$os GOARCH=$arch "$work/bin/cyclonedx-gomod" bin -json -std -noserial -notimestamp -version "$version" \
			-output "$out/$name.cdx.json" "$work/$name/$program"
		find "$work/$name" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
		if [ "$os" = windows ]; then
			(cd "$work" && find "$name" -type f | sort | zip -q -X -9 "$out/$name.zip" -@)
		else
			tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
				--format=ustar -c "$name" | gzip -n -9 >"$out/$name.tar.gz"
		fi
	done
	(cd "$out" && sha256sum -- orbweaver-* >SHA256SUMS && cat SHA256SUMS)
}

# check builds two releases in different directories, the second one with an empty build cache.
check() {
	local both
	both=$(mktemp -d -p "$temporary")
	echo "first build"
	(release "$both/first" "$@")
	echo "second build, with an empty build cache"
	(export GOCACHE=$both/cache && release "$both/another/second" "$@")
	diff -r "$both/first" "$both/another/second"
	echo "the two builds are equal"
}

go=${GO:-go}
commit=$(git rev-parse HEAD)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
all=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)
case ${1-} in
"" | -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2 ;;
--check) shift && check "${@:-linux/amd64}" ;;
*) out=$1 && shift && if [ $# -gt 0 ]; then all=("$@"); fi && release "$out" "${all[@]}" ;;
esac
