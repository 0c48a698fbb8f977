package main

import (
	"os"
	"testing"

	"orbweaver/internal/cli/command"
)

// parted runs agents that are cut apart.
func parted(dir string, more ...string) result {
	return call(append([]string{
		"agents", "--program", os.Getenv("PROGRAM_UNDER_TEST"),
		"--scenario", "partition", "--dir", dir, "--among", "3", "--hosts", "60", "--ips", "60",
		"--fault-mean", "14", "--fault-host-delay", "1s",
		"--fault-ip-delay", "50ms", "--fetchers", "16", "--most", "4m", "--json",
	}, more...)...)
}

// What there is none of is refused, before anything is started.
func TestPartitionRefusals(t *testing.T) {
	parted(t.TempDir(), "--partition", "half").want(t, command.ExitFailed, `no partition is called "half"`, "one-way")
	parted(t.TempDir(), "--among", "2").want(t, command.ExitFailed, "want at least 3")
	parted(t.TempDir(), "--isolated").want(t, command.ExitFailed, "one or the other")
	parted(t.TempDir(), "--quorum", "perhaps").want(t, command.ExitUsage, "quorum")
}

// Where no namespaces can be made, that is said, and what helps.
func TestPartitionWithoutNamespaces(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	parted(t.TempDir()).want(
		t, command.ExitFailed, "no network namespaces can be made here", "unshare", "util-linux and iproute2",
	)
}
