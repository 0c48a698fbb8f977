//go:build !unix

package receivers

import (
	"os"
	"syscall"
)

// ownGroup does nothing: this system has no process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup kills the program alone.
func killGroup(p *os.Process) { _ = p.Kill() }
