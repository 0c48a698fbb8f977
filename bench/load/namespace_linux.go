package load

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// inNamespace does something in the network namespace of a file, and waits for it; "" is the one we are in. A socket
// stays where it was made, whoever uses it.
func inNamespace(name string, do func() error) error {
	if name == "" {
		return do()
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	defer f.Close()
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, so that nobody else finds himself in there
		if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
			ended <- fmt.Errorf("network namespace %s: %w", name, err)
			return
		}
		ended <- do()
	}()
	return <-ended
}
