package netns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// holder is a process that does nothing but be in its namespaces, until its standard input ends.
type holder struct {
	cmd    *exec.Cmd
	in     io.Closer
	stderr bytes.Buffer
}

// keep is what a holder's shell does: it says when it is where it should be.
const keep = "echo there; exec cat > /dev/null"

// ready is how long that may take.
const ready = 20 * time.Second

// hold starts a holder, and waits until it is there.
func hold(ctx context.Context, argv ...string) (*holder, error) {
	h := &holder{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	h.cmd.Stderr = &h.stderr
	said, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = said.Close() }() // it was only read
	h.cmd.Stdout = out
	if h.in, err = h.cmd.StdinPipe(); err == nil {
		err = h.cmd.Start()
	}
	_ = out.Close() // the child has its own
	if err != nil {
		return nil, err
	}
	var word [len("there")]byte
	if err = said.SetReadDeadline(time.Now().Add(ready)); err == nil {
		_, err = io.ReadFull(said, word[:])
	}
	if err == nil {
		return h, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = h.cmd.Process.Kill() // that it has ended by itself is as well
	}
	if wait := h.close(); wait != nil {
		err = wait
	}
	return nil, fmt.Errorf("%s: %w: %s", argv[0], err, bytes.TrimSpace(h.stderr.Bytes()))
}

func (h *holder) pid() int { return h.cmd.Process.Pid }

// close ends the process, and waits for it.
func (h *holder) close() error {
	_ = h.in.Close() // it may have ended by itself, which Wait tells
	return h.cmd.Wait()
}
