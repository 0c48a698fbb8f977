package receivers

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// bound limits the memory that a program and each process that it starts may write to, in bytes; 0 for no limit. Memory
// that is only reserved does not count. If the machine has none left, the kernel ends these processes first. It fails
// only if the program has ended.
func bound(p *os.Process, memory int64) {
	// The kernel takes 1,000 from every process of the same user.
	_ = os.WriteFile("/proc/"+strconv.Itoa(p.Pid)+"/oom_score_adj", []byte("1000"), 0)
	if memory > 0 {
		_ = unix.Prlimit(p.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}, nil)
	}
}
