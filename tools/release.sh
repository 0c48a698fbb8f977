#!/usr/bin/env bash
# Builds a release of the newest commit: an archive and an SBOM for each platform, Debian packages, and SHA256SUMS.
#
#   tools/release.sh DIR [PLATFORM...]     writes the release to DIR
#   tools/release.sh --check [PLATFORM...] builds it twice and fails if a byte differs
#
# The program is built from a clone, so changes that are not committed have no effect, and the go command stamps the
# commit. It is static. The Go version is the toolchain that go.mod names, which go downloads where it is missing. Everything that could differ between two builds is fixed: paths (-trimpath), times
# (SOURCE_DATE_EPOCH, the time of the commit), owners, order. The same Go version and the same GNU tar, gzip,
# Info-ZIP and dpkg-deb give the same bytes. VERSION overrides the version of cmd/orbweaver. Without dpkg-deb there are no
# Debian packages.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC
umask 022

release() {
	local out=$1 version work platform os arch name program
	shift
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	rm -f "$out"/orbweaver[-_]* "$out"/SHA256SUMS
	work=$(mktemp -d -p "$temporary")
	export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct "$commit")}
	git clone --quiet --shared --no-tags --no-checkout . "$work/source"
	git -C "$work/source" checkout --quiet --detach "$commit"
	cd "$work/source"
	version=${VERSION:-$(sed -n 's/^.*version *= "\(.*\)"$/\1/p' cmd/orbweaver/version.go)}
	# The SBOM names the sums of the program that made it, so that program is built in the same way.
	CGO_ENABLED=0 "$go" build -modfile=tools/devtools/go.mod -trimpath -buildvcs=false -o "$work/bin/cyclonedx-gomod" \
		github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
	# This one runs here: it prints the man pages, the completions and the sample configuration for all platforms.
	build "$work/bin/orbweaver" "$("$go" env GOHOSTOS)" "$("$go" env GOHOSTARCH)"
	tools/package/tree.sh "$work/bin/orbweaver" "$work/bin/orbweaver" "$work/tree" /usr
	for platform in "$@"; do
		os=${platform%/*} arch=${platform#*/}
		name=orbweaver-$version-$os-$arch
		program=orbweaver
		[ "$os" != windows ] || program=orbweaver.exe
		mkdir "$work/$name"
		build "$work/$name/$program" "$os" "$arch"
		cp LICENSE README.md CHANGELOG.md "$work/tree/usr/share/doc/orbweaver/examples/crawl.toml" "$work/$name/"
		cp -r "$work/tree/usr/share/doc/orbweaver/docs" "$work/$name/"
		GO=$go tools/package/licences.sh "$work/$name/$program" >"$work/$name/THIRD-PARTY-LICENCES.txt"
		[ "$os" = windows ] || add_texts "$work/tree/usr" "$work/$name"
		[ "$os" != linux ] || cp tools/package/orbweaver@.service tools/package/orbweaver.sysusers "$work/$name/"
		if [ "$os" = linux ] && command -v dpkg-deb >/dev/null; then
			tools/package/deb.sh "$work/$name/$program" "$work/bin/orbweaver" "$version-1" "$arch" \
				"$out/orbweaver_$version-1_$arch.deb"
		fi
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
	(cd "$out" && sha256sum -- orbweaver[-_]* >SHA256SUMS && cat SHA256SUMS)
}

# build FILE OS ARCHITECTURE builds the program in the current directory.
build() {
	CGO_ENABLED=0 GOOS=$2 GOARCH=$3 "$go" build -trimpath -buildvcs=true \
		-ldflags "-s -w -X main.version=$version" -o "$1" ./cmd/orbweaver
}

# add_texts TREE DIR copies the man pages and the completions.
add_texts() {
	mkdir -p "$2/man" "$2/completion"
	cp "$1"/share/man/man[15]/*.gz "$2/man/"
	cp "$1"/share/bash-completion/completions/orbweaver "$2/completion/orbweaver.bash"
	cp "$1"/share/zsh/*/_orbweaver "$1"/share/fish/*/orbweaver.fish "$2/completion/"
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
GOTOOLCHAIN=$(sed -n 's/^toolchain //p' go.mod)
export GOTOOLCHAIN
commit=$(git rev-parse HEAD)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
all=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)
case ${1-} in
"" | -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0" && exit 2 ;;
--check) shift && check "${@:-linux/amd64}" ;;
*) out=$1 && shift && if [ $# -gt 0 ]; then all=("$@"); fi && release "$out" "${all[@]}" ;;
esac
