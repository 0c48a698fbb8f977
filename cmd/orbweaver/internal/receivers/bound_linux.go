package receivers

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bound limits the memory that a program and each process that it starts may write to, in bytes; 0 for no limit. Memory
// that is only reserved does not count. If the machine has none left, the kernel ends these processes first. It fails
// only if the program has ended.
func bound(p *os.Process, memory int64) {
	most := boundMost
	boundTree(p.Pid, memory, &most)
}

// boundMost is how many processes bound visits: more have a program that it cannot overtake.
const boundMost = 1000

// boundTree limits a process, and then those that it has started before: later ones inherit the limit.
func boundTree(pid int, memory int64, most *int) {
	if *most--; *most < 0 {
		return
	}
	dir := "/proc/" + strconv.Itoa(pid)
	// The kernel takes 1,000 from every process of the same user.
	_ = os.WriteFile(dir+"/oom_score_adj", []byte("1000"), 0)
	if memory > 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}, nil)
	}
	lists, _ := filepath.Glob(dir + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list) // the thread may have ended
		for _, child := range strings.Fields(string(children)) {
			if id, err := strconv.Atoi(child); err == nil {
				boundTree(id, memory, most)
			}
		}
	}
}
