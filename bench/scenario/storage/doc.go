// Package storage holds the scenarios of files: SIGKILL and power cuts, full and failing disks, damage, fsck, rebuild,
// cold hosts, and what the archive contains. Package testbed describes how they run.
package storage
