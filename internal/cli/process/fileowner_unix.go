//go:build unix

package process

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// FileOwner returns the user that owns a file; "" if that is not known.
func FileOwner(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return userName(strconv.FormatUint(uint64(stat.Uid), 10))
}

// User returns the user of this process.
func User() string { return userName(strconv.Itoa(os.Geteuid())) }

func userName(id string) string {
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}
