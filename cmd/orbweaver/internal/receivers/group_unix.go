//go:build unix

package receivers

import (
	"os"
	"syscall"
)

// ownGroup makes a program the first of a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the processes of such a group.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
